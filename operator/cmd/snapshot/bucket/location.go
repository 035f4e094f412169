package bucket

// Reads the URL of a bucket, or the path of a folder.

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// parse returns the URL of a bucket or a folder. The URL of a folder makes fileblob create the folder if it does not
// exist, and write nothing outside of it.
func parse(location string) (*url.URL, error) {
	if filepath.IsAbs(location) {
		location = (&url.URL{Scheme: "file", Path: location}).String()
	}
	u, err := url.Parse(location)
	if err != nil || !slices.Contains([]string{"s3", "gs", "azblob", "file"}, u.Scheme) || u.Host+u.Path == "" {
		return nil, errors.New("it is not the URL of a bucket: write " + Forms) // The location may have a password.
	}
	query, err := parseQuery(u.RawQuery)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "file" {
		for name, value := range map[string]string{"create_dir": "true", "no_tmp_dir": "true", "metadata": "skip"} {
			query.Set(name, value)
		}
		u.RawQuery = query.Encode()
	}
	return u, nil
}

// parseQuery refuses parameters that the libraries would ignore silently, and parameters that turn TLS off.
func parseQuery(raw string) (url.Values, error) {
	all := url.Values{}
	for pair := range strings.SplitSeq(raw, "&") {
		one, err := url.ParseQuery(pair)
		if err != nil {
			name, _, _ := strings.Cut(pair, "=")
			return nil, fmt.Errorf("its parameter %q is malformed: write %%25 for %%, %%3B for ; and %%26 for &", name)
		}
		for name, values := range one {
			if isPlain(name, values[0]) {
				return nil, fmt.Errorf("its parameter %q disables TLS, so that anyone on the network can read all values: "+
					"remove this parameter", name)
			}
			all[name] = append(all[name], values...)
		}
	}
	return all, nil
}

// isPlain reports whether a parameter turns TLS off.
func isPlain(name, value string) bool {
	switch name {
	case "protocol":
		return !strings.EqualFold(value, "https")
	case "localemu", "disable_https", "disableSSL":
		on, err := strconv.ParseBool(value)
		return on || err != nil
	}
	return false
}

var anyURL = regexp.MustCompile(`\?[^\s"]+`)

// withoutQueries returns the text of an error without the queries of URLs, because these may have secrets.
func withoutQueries(err error) string { return anyURL.ReplaceAllString(err.Error(), "") }
