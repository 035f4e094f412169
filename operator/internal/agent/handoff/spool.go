package handoff

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"
)

// spool is a list of keys in a file that nobody else can open, or read from the disk: they may be secrets of clients.
type spool struct {
	file   *os.File
	secret [32]byte // never leaves the process
	writer *bufio.Writer

	now  int64 // by the clock here, in seconds since 1970
	keys ages  // how many there are of each age
	size ages  // how many bytes they have in memcached
}

// newSpool makes the file in the folder for temporary ones, and removes its name.
func newSpool() (*spool, error) {
	file, err := os.CreateTemp("", "memcached-keys-")
	if err != nil {
		return nil, fmt.Errorf("the keys are listed in a temporary file, and none can be made: set TMPDIR: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	s := &spool{file: file, now: time.Now().Unix()}
	_, _ = rand.Read(s.secret[:]) // It never fails.
	encrypted := cipher.StreamWriter{S: s.stream(), W: file}
	s.writer = bufio.NewWriterSize(encrypted, copyBuffer)
	return s, nil
}

// stream encrypts and decrypts from the beginning. Each secret is for one file that is written once, so that it needs
// no other initial value.
func (s *spool) stream() cipher.Stream {
	block, err := aes.NewCipher(s.secret[:])
	if err != nil {
		panic(err) // the length of the secret is right
	}
	return cipher.NewCTR(block, make([]byte, aes.BlockSize))
}

func (s *spool) close() { _ = s.file.Close() }

// add adds a key: whether it is base64, its age, the length of its token, and the token, which has at most maxToken
// bytes.
func (s *spool) add(d dumped) error {
	binary, age := byte(0), ageOf(d.age(s.now))
	if d.binary {
		binary = 1
	}
	s.keys[age]++
	s.size[age] += d.size
	_, _ = s.writer.Write([]byte{binary, age, byte(len(d.token))}) // A writer keeps its error.
	_, err := s.writer.WriteString(d.token)
	return err
}

// eachOf calls found for each key of some spans, in their order.
func (s *spool) eachOf(spans iter.Seq[span], found func(key) error) error {
	for of := range spans {
		if err := s.each(of, found); err != nil {
			return err
		}
	}
	return nil
}

// each calls found for each key that has one of these ages.
func (s *spool) each(of span, found func(key) error) error {
	if err := s.writer.Flush(); err != nil {
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	reader := bufio.NewReaderSize(cipher.StreamReader{S: s.stream(), R: s.file}, copyBuffer)
	for {
		var head [3]byte
		if _, err := io.ReadFull(reader, head[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		length := int(head[2])
		if !of.has(head[1]) {
			if _, err := reader.Discard(length); err != nil {
				return err
			}
			continue
		}
		token := make([]byte, length)
		if _, err := io.ReadFull(reader, token); err != nil {
			return err
		}
		if err := found(key{string(token), head[0] == 1}); err != nil {
			return err
		}
	}
}
