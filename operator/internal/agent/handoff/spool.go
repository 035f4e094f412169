package handoff

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// spool is a list of keys in a file. Keys may be secrets of clients. So the file has no name by which another process
// could open it, and is encrypted on the disk.
type spool struct {
	file   *os.File
	secret [32]byte // never leaves the process
	writer *bufio.Writer

	now  int64 // by memcached's clock, in seconds since 1970
	ages ages
}

// listed is a key of a list.
type listed struct {
	key

	bytes int64 // about the bytes of key and value
}

// newSpool creates the file in the folder for temporary files, and removes its name.
func newSpool() (*spool, error) {
	file, err := os.CreateTemp("", "memcached-keys-")
	if err != nil {
		return nil, noFile(err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, noFile(errors.Join(err, file.Close()))
	}
	s := &spool{file: file, now: time.Now().Unix()}
	_, _ = rand.Read(s.secret[:]) // It never fails.
	encrypted := cipher.StreamWriter{S: s.stream(), W: file}
	s.writer = bufio.NewWriterSize(encrypted, copyBuffer)
	return s, nil
}

// noFile returns an error of the temporary file as a Failure with the reason NoTemporaryFile, because it is no error of
// memcached.
func noFile(err error) error {
	const text = "the list of keys needs a temporary file in %s: make room there, or set TMPDIR to another folder: %w"
	return &Failure{Reason: NoTemporaryFile, Err: fmt.Errorf(text, os.TempDir(), err)}
}

// stream encrypts or decrypts the file from its beginning. Each secret is for one file that is written once, so the
// initial value of the cipher can always be zero.
func (s *spool) stream() cipher.Stream {
	block, err := aes.NewCipher(s.secret[:])
	if err != nil {
		panic(err) // impossible, because the length of the secret is right
	}
	return cipher.NewCTR(block, make([]byte, aes.BlockSize))
}

func (s *spool) close() { _ = s.file.Close() }

// add writes a key to the file: its class and whether it is base64, its age, the length of its token, and the token,
// which has at most maxToken bytes.
func (s *spool) add(d dumped) error {
	age, class := ageOf(d.age(s.now)), classOf(d.size)
	s.ages.add(age, class)
	if d.binary {
		class |= isBase64
	}
	_, _ = s.writer.Write([]byte{class, age, byte(len(d.token))}) // A writer keeps its error.
	if _, err := s.writer.WriteString(d.token); err != nil {
		return noFile(err)
	}
	return nil
}

// isBase64 is the bit in the class which says that the token is base64.
const isBase64 = 1 << 7

// flush writes what was added.
func (s *spool) flush() error {
	if err := s.writer.Flush(); err != nil {
		return noFile(err)
	}
	return nil
}

// each calls found for each key of a span that is not copied yet. After an error of found, the next call continues with
// the next key.
func (s *spool) each(of *span, found func(listed) error) error {
	if err := s.flush(); err != nil {
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return noFile(err)
	}
	reader := bufio.NewReaderSize(cipher.StreamReader{S: s.stream(), R: s.file}, copyBuffer)
	for number := int64(0); number < of.end; {
		var head [3]byte
		if _, err := io.ReadFull(reader, head[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return noFile(err)
		}
		var wanted func(listed) error
		if of.has(head[1]) {
			number++
			if number > of.next {
				wanted, of.next = found, number
			}
		}
		if err := s.read(reader, head, wanted); err != nil {
			return err
		}
	}
	return nil
}

// read reads the next key and, unless found is nil, calls found for it.
func (s *spool) read(reader *bufio.Reader, head [3]byte, found func(listed) error) error {
	if found == nil {
		if _, err := reader.Discard(int(head[2])); err != nil {
			return noFile(err)
		}
		return nil
	}
	token := make([]byte, head[2])
	if _, err := io.ReadFull(reader, token); err != nil {
		return noFile(err)
	}
	class := head[0] &^ isBase64
	return found(listed{key{string(token), head[0] != class}, payload(class)})
}
