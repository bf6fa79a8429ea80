package driver

import (
	"unsafe"

	"cudalab/native/device"
)

// CtxSynchronize waits for all work of the context.
func (d *Device) CtxSynchronize() device.Code {
	code := d.call(d.lib.ctxSynchronize)
	d.retired.destroyEmpty(d)
	return code
}

// StreamCreate makes a stream.
func (d *Device) StreamCreate(flags uint32) (device.Stream, device.Code) {
	var s device.Stream
	code := d.call(d.lib.streamCreate, uintptr(unsafe.Pointer(&s)), uintptr(flags))
	return s, code
}

// StreamDestroy gives up a stream; its pending work completes.
func (d *Device) StreamDestroy(s device.Stream) device.Code {
	return d.call(d.lib.streamDestroy, uintptr(s))
}

// StreamSynchronize waits for the work of a stream. Other goroutines run meanwhile.
func (d *Device) StreamSynchronize(s device.Stream) device.Code {
	return d.call(d.lib.streamSynchronize, uintptr(s))
}

// StreamQuery answers Success if the stream's work is complete, ErrorNotReady if not.
func (d *Device) StreamQuery(s device.Stream) device.Code {
	return d.call(d.lib.streamQuery, uintptr(s))
}

// StreamWaitEvent makes later work in s wait for what e remembers now.
func (d *Device) StreamWaitEvent(s device.Stream, e device.Event) device.Code {
	f := frames.Get().(*frame)
	f.argv[0], f.argv[1], f.argv[2] = uintptr(s), uintptr(e), 0
	code := d.call(d.lib.streamWaitEvent, f.argv[:3]...)
	frames.Put(f)
	return code
}

// EventCreate makes an event.
func (d *Device) EventCreate(flags uint32) (device.Event, device.Code) {
	var e device.Event
	code := d.call(d.lib.eventCreate, uintptr(unsafe.Pointer(&e)), uintptr(flags))
	return e, code
}

// EventDestroy gives up an event; waits that were enqueued for it stay in force.
func (d *Device) EventDestroy(e device.Event) device.Code {
	return d.call(d.lib.eventDestroy, uintptr(e))
}

// EventRecord makes e remember where s stands.
func (d *Device) EventRecord(e device.Event, s device.Stream) device.Code {
	return d.callTwo(d.lib.eventRecord, uintptr(e), uintptr(s))
}

// EventSynchronize waits for the work that e remembers. Other goroutines run meanwhile.
func (d *Device) EventSynchronize(e device.Event) device.Code {
	return d.call(d.lib.eventSynchronize, uintptr(e))
}

// EventQuery answers Success if the work that e remembers is complete, ErrorNotReady if not.
func (d *Device) EventQuery(e device.Event) device.Code {
	return d.call(d.lib.eventQuery, uintptr(e))
}

// EventElapsedTime is the time between two events that were recorded and have completed.
func (d *Device) EventElapsedTime(start, end device.Event) (milliseconds float32, code device.Code) {
	code = d.call(d.lib.eventElapsedTime, uintptr(unsafe.Pointer(&milliseconds)), uintptr(start), uintptr(end))
	return milliseconds, code
}
