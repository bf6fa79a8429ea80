package cuda

import (
	"cudalab/native/device"
	"cudalab/native/session"
)

const (
	callEventCreate      = "cudaEventCreateWithFlags"
	callEventDestroy     = "cudaEventDestroy"
	callEventRecord      = "cudaEventRecord"
	callEventSynchronize = "cudaEventSynchronize"
	callEventQuery       = "cudaEventQuery"
	callEventElapsedTime = "cudaEventElapsedTime"
)

// Flags of EventCreateWithFlags; they may be combined with |.
const (
	EventDefault       uint32 = 0
	EventBlockingSync  uint32 = device.EventBlockingSync  // EventSynchronize sleeps instead of spinning
	EventDisableTiming uint32 = device.EventDisableTiming // cheaper to record; has no elapsed time
)

// Event remembers a place in a stream. The zero value is the null event, which no call accepts. Events can be compared.
type Event struct{ e *session.Event }

// EventCreate makes an event with timing.
func EventCreate() (Event, error) {
	e, code := session.Current().EventCreate(EventDefault)
	return Event{e}, answer("cudaEventCreate", code)
}

// EventCreateWithFlags makes an event; flags are EventBlockingSync and EventDisableTiming, or EventDefault.
func EventCreateWithFlags(flags uint32) (Event, error) {
	e, code := session.Current().EventCreate(flags)
	return Event{e}, answer(callEventCreate, code)
}

// EventDestroy destroys an event. It returns at once, also while the event is pending; waits that were put into
// streams keep their effect.
func EventDestroy(e Event) error {
	return answer(callEventDestroy, session.Current().EventDestroy(e.e))
}

// EventRecord makes the event remember all work that is in the stream now, instead of what it remembered.
func EventRecord(e Event, s Stream) error {
	return answer(callEventRecord, session.Current().EventRecord(e.e, s.s))
}

// EventSynchronize waits until what the event remembers is done; not at all if it was never recorded.
func EventSynchronize(e Event) error {
	return answer(callEventSynchronize, session.Current().EventSynchronize(e.e))
}

// EventQuery returns nil if what the event remembers is done or it was never recorded, and ErrorNotReady if not.
func EventQuery(e Event) error {
	return answer(callEventQuery, session.Current().EventQuery(e.e))
}

// EventElapsedTime is the time between two events. Both must have been made with timing and recorded
// (ErrorInvalidResourceHandle if not) and be done (ErrorNotReady if not).
func EventElapsedTime(start, end Event) (milliseconds float32, err error) {
	milliseconds, code := session.Current().EventElapsedTime(start.e, end.e)
	if code == device.ErrorInvalidHandle {
		return 0, &Error{Call: callEventElapsedTime, Code: code, Hint: "an event was destroyed, was never recorded, " +
			"or was made with EventDisableTiming; record both, on events made with EventCreate"}
	}
	return milliseconds, answer(callEventElapsedTime, code)
}
