package clienttest

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Serve answers requests until the test ends, one at a time whatever connection they come by, and gives the address. A
// connection whose request cannot be read is closed.
func Serve(t testing.TB, respond func(kmsg.Request) kmsg.Response) *net.TCPAddr {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var one sync.Mutex
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				for {
					request, correlation, err := read(connection)
					if err != nil {
						return
					}
					one.Lock()
					response := respond(request)
					one.Unlock()
					if write(connection, response, request.GetVersion(), correlation) != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().(*net.TCPAddr)
}

// apiVersions is the key of the one response whose header never has tagged fields.
const apiVersions = 18

// read reads a request: its size in four bytes, then
//
//	| key 2 | version 2 | correlation id 4 | length of client id 2 | client id | tagged fields, if flexible | body |
//
// A client id is never null here, and there are no tagged fields: one byte says so.
func read(connection io.Reader) (request kmsg.Request, correlation []byte, err error) {
	be := binary.BigEndian
	var size [4]byte
	if _, err := io.ReadFull(connection, size[:]); err != nil {
		return nil, nil, err
	}
	frame := make([]byte, be.Uint32(size[:]))
	if _, err := io.ReadFull(connection, frame); err != nil {
		return nil, nil, err
	}
	request = kmsg.RequestForKey(int16(be.Uint16(frame)))
	if request == nil {
		return nil, nil, fmt.Errorf("a request of the unknown key %d", be.Uint16(frame))
	}
	request.SetVersion(int16(be.Uint16(frame[2:])))
	body := frame[10+be.Uint16(frame[8:]):]
	if request.IsFlexible() {
		body = body[1:]
	}
	return request, frame[4:8], request.ReadFrom(body)
}

// write writes a response: its size in four bytes, the correlation id, a byte for no tagged fields if flexible, the body.
func write(connection io.Writer, response kmsg.Response, version int16, correlation []byte) error {
	response.SetVersion(version)
	out := append(make([]byte, 4), correlation...)
	if response.IsFlexible() && response.Key() != apiVersions {
		out = append(out, 0)
	}
	out = response.AppendTo(out)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	_, err := connection.Write(out)
	return err
}
