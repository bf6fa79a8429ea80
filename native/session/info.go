package session

import (
	"cudalab/native/device"
	"cudalab/native/trace"
)

// MemGetInfo is the device's free and total memory in bytes. While tracing under a quota no more is free than the
// quota leaves.
func (s *Session) MemGetInfo() (free, total uint64, code device.Code) {
	if !s.watched.Load() {
		free, total, code = s.dev.MemGetInfo()
		return free, total, s.note(code)
	}
	code = s.call(trace.Record{Op: trace.OpMemGetInfo}, named{}, func(*trace.Record) (code device.Code) {
		free, total, code = s.dev.MemGetInfo()
		if s.tracing && s.quota > 0 {
			free = min(free, s.quota-min(s.asked, s.quota))
		}
		return code
	})
	return free, total, code
}

// DeviceInfo describes the device of an ordinal: 0 is the only one. Any other is answered ErrorInvalidDevice.
func (s *Session) DeviceInfo(ordinal int) (info device.Info, code device.Code) {
	look := func() device.Code {
		if ordinal != 0 {
			return device.ErrorInvalidDevice
		}
		info = s.dev.Info()
		return device.Success
	}
	if !s.watched.Load() {
		code = s.note(look())
		return info, code
	}
	code = s.call(trace.Record{Op: trace.OpDeviceInfo}, named{}, func(*trace.Record) device.Code { return look() })
	return info, code
}
