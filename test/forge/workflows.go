// Package forge checks rules for the workflows of the forge that actionlint does not check.
package forge

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// workflow has the fields of a workflow file that are checked.
type workflow struct {
	On          any                `json:"true"` // In YAML 1.1, the key on means true.
	Permissions *map[string]string `json:"permissions"`
	Concurrency any                `json:"concurrency"`
	Jobs        map[string]job     `json:"jobs"`
}

type job struct {
	RunsOn      string             `json:"runs-on"`
	Timeout     int                `json:"timeout-minutes"`
	Permissions *map[string]string `json:"permissions"`
	Steps       []step             `json:"steps"`
}

type step struct {
	Uses string         `json:"uses"`
	Run  string         `json:"run"`
	With map[string]any `json:"with"`
}

var (
	runner     = regexp.MustCompile(`^ubuntu-\d+\.\d+$`)
	pinned     = regexp.MustCompile(`^\s*(?:- )?uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	permission = regexp.MustCompile(`^\s+[a-z-]+: (?:read|write) # \S+`)
	target     = regexp.MustCompile(`^(?:sudo env "PATH=\$PATH" )?make ([a-z0-9-]+)(?: [A-Z]+=\S+)*$`)
	tag        = regexp.MustCompile(`^v\[0-9\]\+\.\[0-9\]\+\.\[0-9\]\+(?:-\[a-z\]\+\.\[0-9\]\+)?$`)
	privileged = regexp.MustCompile(`\b(?:pull_request_target|workflow_run)\b`)
	declared   = regexp.MustCompile(`(?m)^([a-z0-9-]+):(?:[^=]|$)`)
)

// Targets returns the targets of a Makefile.
func Targets(makefile string) (targets []string) {
	for _, matched := range declared.FindAllStringSubmatch(makefile, -1) {
		targets = append(targets, matched[1])
	}
	return targets
}

// Check returns the problems of a workflow.
func Check(text string, targets []string) (problems []string) {
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return []string{err.Error()}
	}
	if w.Permissions == nil || len(*w.Permissions) > 0 {
		problems = append(problems, "permissions of the workflow must be {}: each job names its own")
	}
	if w.Concurrency == nil {
		problems = append(problems, "concurrency is missing")
	}
	problems = append(problems, checkTriggers(w.On)...)
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		for _, problem := range w.Jobs[name].check(targets) {
			problems = append(problems, fmt.Sprintf("job %s: %s", name, problem))
		}
	}
	return append(problems, checkLines(text)...)
}

// checkTriggers checks the triggers of a workflow: untrusted code must not run with rights, and only a tag that is a
// version may be used in a command.
func checkTriggers(on any) (problems []string) {
	for _, found := range privileged.FindAllString(fmt.Sprint(on), -1) {
		problems = append(problems, fmt.Sprintf("%s runs untrusted code with the rights of this repository", found))
	}
	triggers, _ := on.(map[string]any)
	push, _ := triggers["push"].(map[string]any)
	tags, _ := push["tags"].([]any)
	for _, pattern := range tags {
		if !tag.MatchString(fmt.Sprint(pattern)) {
			problems = append(problems, fmt.Sprintf("the tags %v can hold more than a version: write v[0-9]+.[0-9]+.[0-9]+",
				pattern))
		}
	}
	return problems
}

func (j job) check(targets []string) (problems []string) {
	if !runner.MatchString(j.RunsOn) {
		problems = append(problems, fmt.Sprintf("runs-on %q is not one version of a system, such as ubuntu-24.04", j.RunsOn))
	}
	if j.Timeout <= 0 {
		problems = append(problems, "timeout-minutes is missing")
	}
	if j.Permissions == nil {
		problems = append(problems, "permissions are missing")
	}
	for _, s := range j.Steps {
		problems = append(problems, s.check(targets)...)
	}
	return problems
}

func (s step) check(targets []string) (problems []string) {
	if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
		problems = append(problems, "checkout without persist-credentials: false leaves the token to every later step")
	}
	if s.Run == "" {
		return problems
	}
	matched := target.FindStringSubmatch(s.Run)
	switch {
	case strings.Contains(s.Run, "${{"):
		problems = append(problems, fmt.Sprintf("run %q: pass an expression in env, "+
			"where it cannot become a part of the command", s.Run))
	case matched == nil:
		problems = append(problems, fmt.Sprintf("run %q must be a call of make with a single target", s.Run))
	case !slices.Contains(targets, matched[1]):
		problems = append(problems, fmt.Sprintf("run %q: the Makefile has no target %s", s.Run, matched[1]))
	}
	return problems
}

// checkLines checks the lines with their comments, which the parsed file does not have.
func checkLines(text string) (problems []string) {
	indent := -1 // indentation of the key permissions that the line may be below; -1 without one
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		word := strings.TrimSpace(line)
		depth := len(line) - len(strings.TrimLeft(line, " "))
		if strings.HasPrefix(strings.TrimPrefix(word, "- "), "uses:") && !pinned.MatchString(line) {
			problems = append(problems, fmt.Sprintf("%q is not pinned as owner/action@<40 digits of a commit> # vX.Y.Z", word))
		}
		if indent >= 0 && depth > indent && !permission.MatchString(line) {
			problems = append(problems, fmt.Sprintf("the permission %q has no reason, as in contents: read # why", word))
		}
		if depth <= indent {
			indent = -1
		}
		if word == "permissions:" {
			indent = depth
		}
	}
	return problems
}

// Workflows returns the content of all workflow files, by their names.
func Workflows(root string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*"))
	if err != nil {
		return nil, err
	}
	workflows := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		workflows[filepath.Base(file)] = string(content)
	}
	return workflows, nil
}
