"""Entities: robots and objects, their model files, data and writes."""

from mjlab.entity.base import MOCAP_BASE as MOCAP_BASE
from mjlab.entity.base import RootError as RootError
from mjlab.entity.build import BuiltModel as BuiltModel
from mjlab.entity.build import build_entity as build_entity
from mjlab.entity.build import build_model as build_model
from mjlab.entity.build import build_roots as build_roots
from mjlab.entity.build import entities_from as entities_from
from mjlab.entity.config import ArticulationCfg as ArticulationCfg
from mjlab.entity.config import EntityCfg as EntityCfg
from mjlab.entity.config import InitialStateCfg as InitialStateCfg
from mjlab.entity.data import EntityData as EntityData
from mjlab.entity.defaults import default_rows as default_rows
from mjlab.entity.entity import Entity as Entity
from mjlab.entity.index import Elements as Elements
from mjlab.entity.index import EntityIndex as EntityIndex
from mjlab.entity.initial import InitialStateError as InitialStateError
from mjlab.entity.root import FixedBaseError as FixedBaseError
from mjlab.tensors.columns import LocalIds as LocalIds
