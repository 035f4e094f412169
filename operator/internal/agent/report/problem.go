package report

import "log/slog"

// Problem is the last problem that was logged. It is kept so that a repeated problem is logged only once.
type Problem string

// Log logs an error, unless it is the same as at the last call. An err of nil means that the problem has ended.
func (p *Problem) Log(log *slog.Logger, message string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != string(*p) {
		log.Warn(message, "error", text)
	}
	*p = Problem(text)
}
