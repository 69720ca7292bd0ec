"""Doctor: finds faults of training runs in metrics, weights and a rollout."""

from mjlab.doctor.finding import Diagnosis as Diagnosis
from mjlab.doctor.finding import listing as listing
from mjlab.doctor.finding import ordered as ordered
from mjlab.doctor.finding import save as save
