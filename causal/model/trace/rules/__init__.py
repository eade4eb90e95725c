"""Every built-in family of rules; importing this package registers them."""

from . import attention as attention
from . import cancelling as cancelling
from . import contractions as contractions
from . import convolution as convolution
from . import creation as creation
from . import derivatives as derivatives
from . import elementwise as elementwise
from . import facts as facts
from . import fourier as fourier
from . import frames as frames
from . import indexing as indexing
from . import lists as lists
from . import losses as losses
from . import movement as movement
from . import normalising as normalising
from . import recurrent as recurrent
from . import reductions as reductions
from . import routing as routing
from . import samples as samples
from . import scans as scans
from . import segments as segments
from . import sorting as sorting
