"""Record episodes to HDF5 files, and read them.

`Recorder` gets steps from recorder terms or from the wrapper `RecordEpisode`, and
writes the selected episodes. `Recording` reads them. Modules are imported lazily, so
that configurations need neither torch nor h5py.
"""

from typing import TYPE_CHECKING

from mjlab.lazy import imported_on_use

if TYPE_CHECKING:
    from mjlab.recording.config import RecordingCfg as RecordingCfg
    from mjlab.recording.config import RecordingError as RecordingError
    from mjlab.recording.files import merge as merge
    from mjlab.recording.files import read_index as read_index
    from mjlab.recording.reader import Recording as Recording
    from mjlab.recording.recorder import Recorder as Recorder


__getattr__ = imported_on_use(__name__, __file__)
