"""Entities: robots and objects, from a model file to what can be read and written."""

from mjlab.entity.base import RootError as RootError
from mjlab.entity.build import build_entity as build_entity
from mjlab.entity.config import ArticulationCfg as ArticulationCfg
from mjlab.entity.config import EntityCfg as EntityCfg
from mjlab.entity.config import InitialStateCfg as InitialStateCfg
from mjlab.entity.data import EntityData as EntityData
from mjlab.entity.entity import Entity as Entity
from mjlab.entity.index import Elements as Elements
from mjlab.entity.index import EntityIndex as EntityIndex
from mjlab.entity.index import LocalIds as LocalIds
from mjlab.entity.initial import InitialStateError as InitialStateError
from mjlab.entity.root import FixedBaseError as FixedBaseError
