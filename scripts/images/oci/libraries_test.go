package oci

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example-inc/memcached-operator/scripts/worktree"
)

// writeELF writes a program or library that holds nothing but what it needs: a loader, and libraries by their names.
func writeELF(t *testing.T, file string, machine elf.Machine, loader string, needed ...string) {
	t.Helper()
	names, dynamic := []byte{0}, []elf.Dyn64{}
	for _, name := range needed {
		dynamic = append(dynamic, elf.Dyn64{Tag: int64(elf.DT_NEEDED), Val: uint64(len(names))})
		names = append(append(names, name...), 0)
	}
	dynamic = append(dynamic, elf.Dyn64{})
	const head, entry, section, dyn = 64, 56, 64, 16
	interp := append([]byte(loader), 0)
	at := []uint64{head + entry}
	for _, size := range []int{len(interp), len(names), len(dynamic) * dyn} {
		at = append(at, at[len(at)-1]+uint64(size))
	}
	kind := elf.PT_NULL
	if loader != "" {
		kind = elf.PT_INTERP
	}
	var out bytes.Buffer
	for _, part := range []any{
		elf.Header64{
			Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:  uint16(elf.ET_DYN), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
			Phoff: head, Shoff: at[3], Ehsize: head, Phentsize: entry, Phnum: 1, Shentsize: section, Shnum: 3, Shstrndx: 1,
		},
		elf.Prog64{Type: uint32(kind), Off: at[0], Filesz: uint64(len(interp)), Memsz: uint64(len(interp))},
		interp, names, dynamic,
		[]elf.Section64{
			{},
			{Type: uint32(elf.SHT_STRTAB), Off: at[1], Size: uint64(len(names))},
			{Type: uint32(elf.SHT_DYNAMIC), Off: at[2], Size: uint64(len(dynamic) * dyn), Link: 1, Entsize: dyn},
		},
	} {
		if err := binary.Write(&out, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	if err := worktree.WriteFile(file, out.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
}

// foreignTree is a small system of arm64 that has libraries of amd64 as well.
func foreignTree(t *testing.T) tree {
	t.Helper()
	root := t.TempDir()
	const arm64, amd64 = "/usr/lib/aarch64-linux-gnu/", "/lib/x86_64-linux-gnu/"
	writeELF(t, root+amd64+"libc.so.6", elf.EM_X86_64, "")
	writeELF(t, root+arm64+"libc.so.6", elf.EM_AARCH64, "", "ld-linux-aarch64.so.1")
	writeELF(t, root+arm64+"libevent.so.7.1", elf.EM_AARCH64, "", "libc.so.6", "libssl.so.3")
	writeELF(t, root+arm64+"libssl.so.3", elf.EM_AARCH64, "", "libevent.so.7")
	writeELF(t, root+arm64+"ld-linux-aarch64.so.1", elf.EM_AARCH64, "")
	for link, to := range map[string]string{
		"lib/ld-linux-aarch64.so.1": arm64 + "ld-linux-aarch64.so.1", arm64 + "libevent.so.7": "libevent.so.7.1",
	} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	const loader = "/lib/ld-linux-aarch64.so.1"
	writeELF(t, root+"/usr/bin/memcached", elf.EM_AARCH64, loader, "libevent.so.7", "libc.so.6")
	writeELF(t, root+"/usr/bin/static", elf.EM_AARCH64, "")
	writeELF(t, root+"/usr/bin/broken", elf.EM_AARCH64, loader, "libmissing.so.1")
	return tree(root)
}

func TestAProgramsFilesAreThoseOfItsLoaderAndLibraries(t *testing.T) {
	tests := map[string]struct {
		program string
		want    []string
		err     string
	}{
		"libraries, and those of libraries, of its architecture": {"/usr/bin/memcached", []string{
			"lib/ld-linux-aarch64.so.1", "usr/lib/aarch64-linux-gnu/libc.so.6", "usr/lib/aarch64-linux-gnu/libevent.so.7",
			"usr/lib/aarch64-linux-gnu/libssl.so.3", "usr/bin/memcached",
		}, "<nil>"},
		"a static program alone": {"/usr/bin/static", []string{"usr/bin/static"}, "<nil>"},
		"a missing library":      {"/usr/bin/broken", nil, "libraries of /usr/bin/broken: libmissing.so.1 is in none of"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files, err := foreignTree(t).files(tc.program)
			if !strings.HasPrefix(fmt.Sprint(err), tc.err) {
				t.Errorf("error %v, want %s", err, tc.err)
			}
			var got []string
			for _, file := range files {
				got = append(got, file.path)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}
