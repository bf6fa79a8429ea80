package watch

import "syscall"

// silentKinds are the file systems on which a change made elsewhere, on a server or on the other side of a virtual
// machine, raises no event here. The numbers are those of statfs(2).
var silentKinds = map[uint32]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xff534d42: "SMB",
	0xfe534d42: "SMB",
	0x01021997: "a 9P file system (a Windows drive in WSL, or a folder shared with a virtual machine)",
	0x53464846: "a Windows drive in WSL",
	0x65735546: "a FUSE file system (sshfs, or a folder shared with a container or a virtual machine)",
	0x786f4256: "a folder shared by VirtualBox",
	0x5346414f: "AFS",
	0x00c36400: "Ceph",
	0x0bd00bd0: "Lustre",
	0x47504653: "GPFS",
}

// silent names the kind of file system a folder lies on if it is one that reports no events; "" otherwise.
func silent(dir string) string {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return ""
	}
	return silentKinds[uint32(s.Type)]
}
