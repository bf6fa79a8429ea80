// Package cuda is CUDA's API as the exercises see it: the same calls with the same meaning, on an NVIDIA GPU or on the
// simulated device.
//
// # Names
//
// The rule is the CUDA name with a dot in it: cudaMallocAsync is cuda.MallocAsync, cudaStreamWaitEvent is
// cuda.StreamWaitEvent, and where only the driver API has the call, cuMemcpyHtoD is cuda.MemcpyHtoD. Arguments keep
// CUDA's order, the out-parameter becomes a result, and every call returns an error. So what NVIDIA's manual says
// about a call can be looked up under its name, and holds here. Sizes, counts and offsets are bytes.
//
// There is one file for each chapter of the manual.
//
// Queries answer ErrorNotReady as an error, as CUDA does: errors.Is(err, cuda.ErrorNotReady).
//
// # Where the runtime API and the driver API differ
//
// Underneath is the driver API, on both devices, so codes and corner cases are the driver's:
//
//	call                       runtime API                    here, as in the driver API
//	Malloc(0)                  success, null pointer          ErrorInvalidValue
//	launch, impossible extent  cudaErrorInvalidConfiguration  ErrorInvalidValue
//	GetLastError               one per host thread            one for the process
//
// # Streams
//
// The zero Stream is the legacy default stream: its work waits for all earlier work in blocking streams, and their
// later work waits for it. Streams made with StreamNonBlocking are exempt. Per-thread default streams are not offered.
// A Stream or Event that was destroyed is answered ErrorInvalidResourceHandle, a MemPool ErrorInvalidValue.
//
// # Virtual memory management
//
// Only the driver API has it: cuMemCreate is cuda.MemCreate, CU_MEM_ACCESS_FLAGS_PROT_READWRITE is
// cuda.MemAccessFlagsProtReadWrite. Addresses and the memory behind them are made apart: MemAddressReserve takes
// addresses, MemCreate makes memory, MemMap puts the one behind the other, and MemSetAccess lets the device use it. It
// ends with MemUnmap, MemRelease and MemAddressFree; the handle may be released as soon as it is mapped. A handle that
// was released is answered ErrorInvalidValue.
//
// # Host memory
//
// Pageable is ordinary Go memory. An asynchronous copy from it returns once the bytes are staged, one to it when it
// is complete; so neither overlaps as one hopes. A HostBuffer is pinned: asynchronous copies return at once, and the
// host may neither read the destination nor change the source before it has synchronised. A HostBuffer is no slice, so
// that every access to it is a call that can be checked.
//
// # Concurrency
//
// Every function may be called from any goroutine; there is no current context or device to set first. Calls on
// different streams are ordered by events and synchronisation alone, whichever goroutines made them.
package cuda
