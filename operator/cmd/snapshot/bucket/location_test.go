package bucket

import (
	"strings"
	"testing"
)

func TestAParameterThatIsLostOrOfPlainHTTPIsRefused(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1") // The library looks for credentials only once in a process.
	for location, want := range map[string]string{
		"s3://backups?region=a&prefix=100%/":           `its parameter "prefix" is malformed: write %25 for %`,
		"s3://backups?prefix=a;b/&region=secret":       `its parameter "prefix" is malformed`,
		"file:///var/snapshots?prefix=%zz":             `its parameter "prefix" is malformed`,
		"azblob://backups?protocol=http":               `its parameter "protocol" disables TLS`,
		"azblob://backups?protocol=HTTP":               `its parameter "protocol" disables TLS`,
		"azblob://backups?localemu=true":               `its parameter "localemu" disables TLS`,
		"s3://backups?region=secret&disable_https=1":   `its parameter "disable_https" disables TLS`,
		"s3://backups?unknown=secret&prefix=caches%2F": "s3://backups cannot be opened: ",
		"gs://backups?unknown=secret":                  "gs://backups cannot be opened: ",
	} {
		_, err := Open(t.Context(), location)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", location, err)
		}
	}
	for _, location := range []string{
		"azblob://backups?protocol=https&localemu=false", "s3://backups?disable_https=false&prefix=100%25%2F", "/var/100%/a;b?c",
	} {
		if _, err := parse(location); err != nil {
			t.Errorf("%s: %v", location, err)
		}
	}
}
