package build

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
)

// bundle is many files in one: the length of a list, the list, and the files one behind the other.
type bundle struct {
	list []entry
	data bytes.Buffer
}

type entry struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

func (b *bundle) add(name string, text []byte) {
	b.list = append(b.list, entry{name, len(text)})
	b.data.Write(text)
}

func (b *bundle) bytes() ([]byte, error) {
	list, err := json.Marshal(b.list)
	if err != nil {
		return nil, err
	}
	all := binary.BigEndian.AppendUint32(nil, uint32(len(list)))
	return append(append(all, list...), b.data.Bytes()...), nil
}
