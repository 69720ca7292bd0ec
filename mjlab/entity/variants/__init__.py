"""One entity that is another object in each world."""

from mjlab.entity.variants.config import VariantsCfg as VariantsCfg
from mjlab.entity.variants.config import VariantsError as VariantsError
from mjlab.entity.variants.config import check_variants as check_variants
from mjlab.entity.variants.config import option_shares as option_shares
from mjlab.entity.variants.slots import Slot as Slot
from mjlab.entity.variants.slots import build_slots as build_slots
