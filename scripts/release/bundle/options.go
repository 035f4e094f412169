package bundle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Options are what a bundle is told, as the flags have it.
type Options struct {
	Version        string   // such as 0.1.0
	Image          string   // the operator's
	AgentImage     string   // of the agent in caches' Pods; empty: as the manifests have it
	MemcachedImage string   // of a Memcached that names none; empty: as the manifests have it
	Channels       []string // that the version is in
	DefaultChannel string   // of the package; empty: the first of Channels

	// CreatedAt is the time of the release; empty: as the base has it.
	CreatedAt string

	// Replaces is the version before this one; empty: there is none.
	Replaces string

	// SkipRange are the versions that may be left out on the way to this one; empty: none.
	SkipRange string

	// PullSecret names a Secret, in the operator's namespace, that its image is pulled by; empty: none.
	PullSecret string

	// Digest, where it is set, turns an image reference into one by digest.
	Digest func(ctx context.Context, image string) (string, error)
}

// Validate tells everything that is wrong.
func (o Options) Validate() error {
	return errors.Join(
		ValidateVersion("version", o.Version),
		ValidateImage("image", o.Image),
		validateIfAny("agent-image", o.AgentImage),
		validateIfAny("memcached-image", o.MemcachedImage),
		o.validateChannels(),
		o.validateTime(),
		o.validateReplaces(),
		o.validatePullSecret(),
	)
}

// invalid is an error that tells which flag to correct, and how.
func invalid(flag, value, problem, remedy string) error {
	return fmt.Errorf("--%s %q: %s: %s", flag, value, problem, remedy)
}

// ValidateVersion takes what can be the version of a bundle.
func ValidateVersion(flag, version string) error {
	parsed, err := semver.Parse(version)
	switch {
	case err != nil && strings.HasPrefix(version, "v"):
		return invalid(flag, version, "begins with a v", "leave it out, as in 0.1.0")
	case err != nil:
		return invalid(flag, version, "is no semantic version", "write three numbers, as in 0.1.0 or 0.2.0-rc.1")
	case len(parsed.Build) > 0:
		return invalid(flag, version, "has build metadata, which no name in Kubernetes can hold",
			"leave out the + and what follows")
	}
	if problems := validation.IsDNS1123Subdomain(Name(version)); len(problems) > 0 {
		return invalid(flag, version, Name(version)+" is no name: "+problems[0], "use lower-case letters and digits")
	}
	if problems := validation.IsValidLabelValue(Name(version)); len(problems) > 0 {
		return invalid(flag, version, Name(version)+" is no label value: "+problems[0], "make it shorter")
	}
	return nil
}

// ImageExample is the operator's image in help and errors.
const ImageExample = "registry.example.com/memcached-operator:0.1.0"

const imageRemedy = "name it as in " + ImageExample

// ValidateImage takes a reference that says where the image is and which it is. Without a registry each machine
// would look in its own; without tag or digest each pull could bring another image.
func ValidateImage(flag, image string) error {
	parsed, err := reference.Parse(image)
	if err != nil {
		return invalid(flag, image, err.Error(), imageRemedy)
	}
	named, ok := parsed.(reference.Named)
	if !ok {
		return invalid(flag, image, "names no image", imageRemedy)
	}
	if host := reference.Domain(named); host != "localhost" && !strings.ContainsAny(host, ".:") {
		return invalid(flag, image, "names no registry", imageRemedy)
	}
	if reference.IsNameOnly(named) {
		return invalid(flag, image, "has neither tag nor digest", imageRemedy)
	}
	return nil
}

// ValidateTarget takes a reference that an image can be pushed to. A registry would store an image under the digest
// that it has, whatever digest the reference names, and without a tag.
func ValidateTarget(flag, image string) error {
	if err := ValidateImage(flag, image); err != nil {
		return err
	}
	if strings.Contains(image, "@") {
		return invalid(flag, image, "names a digest, which follows from what is built", "name a tag alone")
	}
	return nil
}

func validateIfAny(flag, image string) error {
	if image == "" {
		return nil
	}
	return ValidateImage(flag, image)
}

func (o Options) validateChannels() error {
	const remedy = "name channels that begin with candidate, fast or stable, as in stable,candidate"
	if len(o.Channels) == 0 {
		return invalid("channels", "", "no channel is named", remedy)
	}
	for i, channel := range o.Channels {
		if len(validation.IsDNS1123Label(channel)) > 0 {
			return invalid("channels", strings.Join(o.Channels, ","), fmt.Sprintf("%q is no name", channel), remedy)
		}
		if slices.Contains(o.Channels[:i], channel) {
			return invalid("channels", strings.Join(o.Channels, ","), channel+" is named twice", "name it once")
		}
	}
	// A version may be in candidate alone while the default is stable.
	if o.DefaultChannel != "" && len(validation.IsDNS1123Label(o.DefaultChannel)) > 0 {
		return invalid("default-channel", o.DefaultChannel, "is no name", remedy)
	}
	return nil
}

func (o Options) validateTime() error {
	if o.CreatedAt == "" {
		return nil
	}
	if _, err := time.Parse(time.RFC3339, o.CreatedAt); err != nil {
		return invalid("created-at", o.CreatedAt, "is no time", "write it as in 2026-01-31T12:00:00Z")
	}
	return nil
}

func (o Options) validateReplaces() error {
	if o.Replaces == "" {
		return nil
	}
	if err := ValidateVersion("replaces", o.Replaces); err != nil {
		return err
	}
	this, err := semver.Parse(o.Version)
	if err != nil {
		return nil //nolint:nilerror // Validate tells of the version by itself.
	}
	if that := semver.MustParse(o.Replaces); that.GE(this) {
		return invalid("replaces", o.Replaces, "is not older than "+o.Version, "name the version before this one")
	}
	if o.SkipRange != "" {
		if _, err := semver.ParseRange(o.SkipRange); err != nil {
			return invalid("skip-range", o.SkipRange, err.Error(), "write it as in >=0.1.0 <0.2.0")
		}
	}
	return nil
}

func (o Options) validatePullSecret() error {
	if o.PullSecret == "" {
		return nil
	}
	if problems := validation.IsDNS1123Subdomain(o.PullSecret); len(problems) > 0 {
		return invalid("pull-secret", o.PullSecret, problems[0], "name a Secret of the operator's namespace")
	}
	return nil
}

func (o Options) defaultChannel() string {
	if o.DefaultChannel == "" {
		return o.Channels[0]
	}
	return o.DefaultChannel
}
