package cuda

import (
	"cudalab/native/device"
	"cudalab/native/session"
)

const (
	callStreamCreate      = "cudaStreamCreateWithFlags"
	callStreamDestroy     = "cudaStreamDestroy"
	callStreamSynchronize = "cudaStreamSynchronize"
	callStreamQuery       = "cudaStreamQuery"
	callStreamWaitEvent   = "cudaStreamWaitEvent"
	callDeviceSynchronize = "cudaDeviceSynchronize"
)

// Flags of StreamCreateWithFlags.
const (
	StreamDefault     uint32 = 0                        // synchronises with the legacy default stream
	StreamNonBlocking uint32 = device.StreamNonBlocking // does not
)

// Stream is a queue of work, done in order. The zero value is the legacy default stream. Streams can be compared.
type Stream struct{ s *session.Stream }

func init() {
	session.WrapStreams(func(x any) *session.Stream { return x.(Stream).s })
}

// StreamCreate makes a stream that synchronises with the legacy default stream.
func StreamCreate() (Stream, error) {
	s, code := session.Current().StreamCreate(StreamDefault)
	return Stream{s}, answer("cudaStreamCreate", code)
}

// StreamCreateWithFlags makes a stream; flags is StreamDefault or StreamNonBlocking.
func StreamCreateWithFlags(flags uint32) (Stream, error) {
	s, code := session.Current().StreamCreate(flags)
	return Stream{s}, answer(callStreamCreate, code)
}

// StreamDestroy destroys a stream. It returns at once; work that is pending in the stream is still done.
func StreamDestroy(s Stream) error {
	return answer(callStreamDestroy, session.Current().StreamDestroy(s.s))
}

// StreamSynchronize waits until all work in the stream is done.
func StreamSynchronize(s Stream) error {
	return answer(callStreamSynchronize, session.Current().StreamSynchronize(s.s))
}

// StreamQuery returns nil if all work in the stream is done, and ErrorNotReady if not.
func StreamQuery(s Stream) error {
	return answer(callStreamQuery, session.Current().StreamQuery(s.s))
}

// StreamWaitEvent makes work that is put into the stream from now on wait for what the event remembers at this moment.
// It returns at once. An event that was never recorded makes nothing wait.
func StreamWaitEvent(s Stream, e Event) error {
	return answer(callStreamWaitEvent, session.Current().StreamWaitEvent(s.s, e.e))
}

// DeviceSynchronize waits until all work in all streams is done.
func DeviceSynchronize() error {
	return answer(callDeviceSynchronize, session.Current().DeviceSynchronize())
}
