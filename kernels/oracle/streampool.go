package oracle

import "math/bits"

// Own is what kernel lease leaves for a tenant in the word at an address.
func Own(address uint64, tenant uint32) uint64 {
	return bits.RotateLeft64(address, int(tenant&63)) ^ 0xD1B54A32D192ED03*(uint64(tenant)+1)
}
