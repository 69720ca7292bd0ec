"""Pages that run policies in a browser, without a server."""

from mjlab.export.web.page import WrittenPage as WrittenPage
from mjlab.export.web.page import write_page as write_page
