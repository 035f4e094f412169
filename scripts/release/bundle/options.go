package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/distribution/reference"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Options are the inputs of Build, mostly from flags.
type Options struct {
	Images                  // only the operator's image is required
	Version        string   // such as 0.1.0
	Channels       []string // channels that get the version
	DefaultChannel string   // default channel of the package; empty: the first of Channels
	PullSecret     string   // Secret for pulling the operator's image, in the operator's namespace; empty: none

	// Replaces is the version before this one. SkipRange is the range of versions from which an upgrade may go directly to
	// this version. Both follow from the catalog, and are empty for the first version.
	Replaces, SkipRange string

	// Digest returns an image reference with a digest for this one. If it is nil, references stay as they are.
	Digest func(ctx context.Context, image string) (string, error)
}

// Images are the images of a release. An empty field means the image in the manifests.
type Images struct{ Operator, Agent, Snapshot, Memcached string }

// byName returns the images by the names that they have in a bundle and in the Deployment.
func (i *Images) byName() map[string]*string {
	return map[string]*string{manager: &i.Operator, "agent": &i.Agent, "snapshot": &i.Snapshot, "memcached": &i.Memcached}
}

// Flags adds the flags that choose images. The help of the flag for the operator's image is about.
func (i *Images) Flags(flags *pflag.FlagSet, about string) {
	flags.StringVar(&i.Operator, "image", "", about)
	flags.StringVar(&i.Agent, "agent-image", "", "the agent's image (default: as in the manifests)")
	flags.StringVar(&i.Snapshot, "snapshot-image", "", "the image that saves caches (default: as in the manifests)")
	MemcachedFlag(flags, &i.Memcached)
}

// MemcachedFlag adds the flag for the image that caches run by default.
func MemcachedFlag(flags *pflag.FlagSet, image *string) {
	flags.StringVar(image, "memcached-image", "", "default image of Memcacheds that name no image (default: as in "+
		"the manifests)")
}

// Validate reports everything that is wrong with the options.
func (o Options) Validate() error {
	// A valid value is checked instead of a missing one, because a missing value is no error. The default channel need not
	// be a channel of this version: a candidate, for example, is not in stable.
	errs := []error{
		ValidateVersion("version", o.Version),
		ValidateImage("image", o.Operator),
		validateChannels("channels", o.Channels...),
		ValidateImage("agent-image", cmp.Or(o.Agent, ImageExample)),
		ValidateImage("snapshot-image", cmp.Or(o.Snapshot, ImageExample)),
		ValidateImage("memcached-image", cmp.Or(o.Memcached, ImageExample)),
		validateChannels("default-channel", cmp.Or(o.DefaultChannel, "stable")),
	}
	if problems := validation.IsDNS1123Subdomain(cmp.Or(o.PullSecret, "none")); len(problems) > 0 {
		errs = append(errs, invalid("pull-secret", o.PullSecret, problems[0], "name a Secret of the operator's namespace"))
	}
	return errors.Join(errs...)
}

// Renewed returns the options that write a bundle again from the manifests in root. Each image is the current one in
// the manifests, unless a user gave another image to make bundle. Such an image has a digest, or a repository that the
// manifests do not name.
func (o Options) Renewed(root string) (Options, error) {
	text, err := os.ReadFile(filepath.Join(root, "operator/config/manager/manager.yaml"))
	if err != nil {
		return o, err
	}
	for _, image := range []*string{&o.Agent, &o.Snapshot, &o.Memcached} {
		name := (*image)[:max(0, strings.LastIndex(*image, ":"))]
		if !strings.Contains(*image, "@") && strings.Contains(string(text), " "+name+":") {
			*image = ""
		}
	}
	return o, nil
}

// invalid returns an error with the flag, its value, the problem and the fix.
func invalid(flag, value, problem, fix string) error {
	return fmt.Errorf("--%s %q: %s: %s", flag, value, problem, fix)
}

// ValidateVersion returns an error if a bundle cannot have this version.
func ValidateVersion(flag, version string) error {
	_, err := semver.Parse(version)
	name := Name(version)
	switch problems := append(validation.IsDNS1123Subdomain(name), validation.IsValidLabelValue(name)...); {
	case err != nil:
		return invalid(flag, version, "is no semantic version", "write three numbers without a v, as in 0.1.0 or 0.2.0-rc.1")
	case len(problems) > 0: // It has build metadata, or is too long.
		return invalid(flag, version, name+" is no name and label value: "+problems[0],
			"use up to 40 lower-case letters, digits and hyphens")
	}
	return nil
}

// ImageExample is the operator's image in help and errors.
const ImageExample = "registry.example.com/memcached-operator:0.1.0"

// ValidateImage requires a registry, because without a registry each Node would look in its own default registry. It
// also requires a tag or a digest, because without them each pull could get another image.
func ValidateImage(flag, image string) error {
	parsed, err := reference.Parse(image)
	named, isNamed := parsed.(reference.Named)
	problem := ""
	switch {
	case err != nil:
		problem = err.Error()
	case !isNamed:
		problem = "names no image"
	case reference.Domain(named) != "localhost" && !strings.ContainsAny(reference.Domain(named), ".:"):
		problem = "names no registry"
	case reference.IsNameOnly(named):
		problem = "has neither tag nor digest"
	default:
		return nil
	}
	return invalid(flag, image, problem, "name it as in "+ImageExample)
}

// RepositoryOf returns the reference of an image without its tag and digest.
func RepositoryOf(image string) string {
	name, _, _ := strings.Cut(image, "@")
	if i := strings.LastIndex(name, ":"); i > strings.LastIndex(name, "/") {
		name = name[:i]
	}
	return name
}

// ValidateTarget requires a reference to which an image can be pushed. If the reference had a digest, a registry would
// store the image under the image's real digest instead, and without a tag.
func ValidateTarget(flag, image string) error {
	if err := ValidateImage(flag, image); err != nil {
		return err
	}
	if strings.Contains(image, "@") {
		return invalid(flag, image, "names a digest, but the digest follows from what is built", "name only a tag")
	}
	return nil
}

// channelPattern matches channel names that show the users of OperatorHub how mature a version is.
var channelPattern = regexp.MustCompile(`^(candidate|fast|stable)(-[a-z0-9.]+)?$`)

func validateChannels(flag string, channels ...string) error {
	const fix = "name channels that begin with candidate, fast or stable, as in stable,candidate"
	value := strings.Join(channels, ",")
	if len(channels) == 0 {
		return invalid(flag, value, "no channel is named", fix)
	}
	for i, channel := range channels {
		if !channelPattern.MatchString(channel) {
			return invalid(flag, value, fmt.Sprintf("%q is no channel", channel), fix)
		}
		if slices.Contains(channels[:i], channel) {
			return invalid(flag, value, channel+" is named twice", "name it once")
		}
	}
	return nil
}
