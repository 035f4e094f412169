package identity

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/distribution/reference"
	"golang.org/x/mod/module"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Validate reports everything that is wrong with the identity, by parameters of make rebrand.
func (id Identity) Validate() error {
	return errors.Join(
		validateModule(id.Module), validateGroup(id.Group), validateRegistry(id.Registry, id.Name), validateName(id.Name))
}

// invalid is an error that names the parameter to correct, and the fix.
func invalid(parameter, value, problem, fix string) error {
	return fmt.Errorf("%s=%s: %s: %s", parameter, value, problem, fix)
}

func validateModule(path string) error {
	const fix = "write the address of the repository without https://, as in github.com/YOU/REPOSITORY"
	if err := module.CheckPath(path); err != nil {
		return invalid("MODULE", path, "not a module path", fix+" ("+err.Error()+")")
	}
	if !strings.Contains(path, "/") {
		return invalid("MODULE", path, "has no path after the host", fix)
	}
	if _, major, _ := module.SplitPathVersion(path); major != "" {
		return invalid("MODULE", path, "ends in a major version", "leave out "+major+": links use the path as an address")
	}
	return nil
}

func validateGroup(group string) error {
	const fix = "use a DNS name below a domain of your own, as in cache.YOUR.DOMAIN, in lower case"
	if problems := validation.IsDNS1123Subdomain(group); len(problems) > 0 {
		return invalid("GROUP", group, problems[0], fix)
	}
	if !strings.Contains(group, ".") {
		return invalid("GROUP", group, "has no dot", fix)
	}
	for _, reserved := range []string{"k8s.io", "kubernetes.io"} {
		if strings.HasSuffix("."+group, "."+reserved) {
			return invalid("GROUP", group, reserved+" is reserved for Kubernetes", fix)
		}
	}
	if problems := validation.IsDNS1123Subdomain("memcacheds." + group); len(problems) > 0 {
		return invalid("GROUP", group, "is too long for the name of the CustomResourceDefinition", "use a shorter one")
	}
	return nil
}

func validateRegistry(registry, name string) error {
	const fix = "write host, port and path, as in ghcr.io/YOU or localhost:5001; Docker Hub is docker.io/ACCOUNT"
	if strings.Contains(registry, "://") {
		return invalid("REGISTRY", registry, "is a URL", "leave out the scheme")
	}
	host, _, _ := strings.Cut(registry, "/")
	if host != "localhost" && !strings.ContainsAny(host, ".:") {
		return invalid("REGISTRY", registry, "names no host", fix)
	}
	// Parse and not ParseNormalizedNamed, which would accept short names.
	parsed, err := reference.Parse(registry + "/" + name)
	if err != nil {
		return invalid("REGISTRY", registry, err.Error(), fix)
	}
	named, isNamed := parsed.(reference.Named)
	if !isNamed || reference.Domain(named) != host {
		return invalid("REGISTRY", registry, "not a registry", fix)
	}
	return nil
}

func validateName(name string) error {
	if problems := validation.IsDNS1035Label(name); len(problems) > 0 {
		return invalid("NAME", name, problems[0], "Services and metrics begin with it, as in YOU-memcached")
	}
	return nil
}

// LongestName finds the longest DNS label in a text that holds the name. Objects have such labels as names.
func (id Identity) LongestName(text string) string {
	longest := ""
	for _, label := range regexp.MustCompile(`[-a-z0-9]*`+regexp.QuoteMeta(id.Name)+`[-a-z0-9]*`).FindAllString(text, -1) {
		if len(label) > len(longest) && len(label) <= validation.DNS1035LabelMaxLength {
			longest = label
		}
	}
	return longest
}

// Fits checks that a name which contains that of the project is still short enough with another name of the project.
func (id Identity) Fits(next Identity, longest string) error {
	others := len(longest) - len(id.Name)
	most := validation.DNS1035LabelMaxLength - others
	if len(next.Name) <= most {
		return nil
	}
	return invalid("NAME", next.Name,
		fmt.Sprintf("%s would have %d characters, and a Service can have %d",
			strings.Replace(longest, id.Name, next.Name, 1), others+len(next.Name), validation.DNS1035LabelMaxLength),
		fmt.Sprintf("use at most %d characters", most))
}
