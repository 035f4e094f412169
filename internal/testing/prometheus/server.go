package prometheus

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/wait"
)

// Server is a Prometheus that runs as a process.
type Server struct {
	// Address is where the server listens: host and port.
	Address string
	// Dial connects to the server. It is set only if the server is in another network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Command returns the command of the server. Its process keeps its data and its log in a folder, and ends with the
// context.
func (s Server) Command(ctx context.Context, dir, config string) (*exec.Cmd, error) {
	program, err := Path(ctx, server)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "prometheus.log"))
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+s.Address)
	command.Stdout, command.Stderr = log, log
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	return command, nil
}

// AwaitReady waits until the server answers queries.
func (s Server) AwaitReady(ctx context.Context) error {
	answers := func(ctx context.Context) (bool, error) {
		_, err := s.Query(ctx, "vector(1)", time.Now())
		return err == nil, nil //nolint:nilerr // It does not listen yet.
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, answers)
}

// Query returns the values of a query at a time.
func (s Server) Query(ctx context.Context, query string, at time.Time) (model.Vector, error) {
	var result model.Vector
	err := s.get(ctx, "query", url.Values{"query": {query}, "time": {seconds(at)}}, &result)
	return result, err
}

// QueryRange returns the values of a query from one time to another, with a step between them.
func (s Server) QueryRange(
	ctx context.Context, query string, from, to time.Time, step time.Duration,
) (result model.Matrix, err error) {
	err = s.get(ctx, "query_range", url.Values{
		"query": {query}, "start": {seconds(from)}, "end": {seconds(to)}, "step": {step.String()},
	}, &result)
	return result, err
}

func seconds(at time.Time) string {
	return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)
}

func (s Server) get(ctx context.Context, path string, values url.Values, into any) error {
	address := "http://" + s.Address + "/api/v1/" + path + "?" + values.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: s.Dial, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer := struct {
		Error string
		Data  struct{ Result json.RawMessage }
	}{}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Error != "" {
		return fmt.Errorf("%s: %s", values.Get("query"), answer.Error)
	}
	return json.Unmarshal(answer.Data.Result, into)
}
