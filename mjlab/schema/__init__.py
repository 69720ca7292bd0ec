"""Configurations as data: checked, written to files, and read back.

What a file may name is a closed list; see `Trust`.
"""

from mjlab.schema.declare import declare_terms as declare_terms
from mjlab.schema.declare import declared as declared
from mjlab.schema.names import ConfigFileError as ConfigFileError
from mjlab.schema.objects import check_object as check_object
from mjlab.schema.objects import read_object as read_object
from mjlab.schema.read import from_data as from_data
from mjlab.schema.read import parse_config as parse_config
from mjlab.schema.trust import TRUSTED as TRUSTED
from mjlab.schema.trust import Trust as Trust
from mjlab.schema.write import config_text as config_text
from mjlab.schema.write import to_data as to_data
