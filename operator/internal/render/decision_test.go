package render

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/example-inc/memcached-operator/internal/testing/arbitrary"
	cachev1 "github.com/example-inc/memcached-operator/operator/api/v1"
	"github.com/example-inc/memcached-operator/operator/internal/memcached"
	"github.com/example-inc/memcached-operator/operator/internal/names"
	"github.com/example-inc/memcached-operator/operator/internal/plan"
)

// FuzzTheSameSpecInOtherWordsReplacesNoPod: if a spec spells out defaults, writes quantities in another form, or has a
// set in another order, the Pod template stays the same, and the Pods do not get the inputs of a newer operator.
func FuzzTheSameSpecInOtherWordsReplacesNoPod(f *testing.F) {
	f.Add([]byte{}, uint64(1))
	f.Add([]byte("memcached"), uint64(2))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		mc := arbitrary.Memcached(arbitrary.Filler(data))
		mc.Status, mc.Spec.UpdatePolicy = cachev1.MemcachedStatus{}, ""
		live := deployed(t, mc)
		if live == nil {
			return
		}
		inOtherWords(rand.New(rand.NewPCG(seed, 0)), &mc.Spec)
		again, err := computed(mc, currently(live), others(live))
		if err != nil {
			t.Fatalf("in other words it is impossible: %v", err)
		}
		got := renderedTemplate(t, again, live)
		if !apiequality.Semantic.DeepEqual(live.Spec.Template, got) { // The Deployment controller compares like this.
			t.Errorf("in other words it replaces the Pods (-before +after):\n%s", gocmp.Diff(live.Spec.Template, got))
		}
	})
}

func TestTheSameQuantityHasTheSameHash(t *testing.T) {
	hash := func(limits corev1.ResourceList) string {
		p := planned(t, func(s *cachev1.MemcachedSpec) {
			s.Resources = &cachev1.MemcachedResources{Resources: cachev1.Resources{Limits: limits}}
		}, defaults)
		return p.Record.Template
	}
	derived := hash(corev1.ResourceList{"cpu": resource.MustParse("1")})
	for _, cpu := range []string{"1", "1000m", "1e0"} {
		for _, memory := range []string{"243Mi", "248832Ki", "254803968"} {
			spelled := corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
			if got := hash(spelled); got != derived {
				t.Errorf("cpu %s and memory %s are taken for others than what is derived", cpu, memory)
			}
		}
	}
}

// deployed returns the Deployment that an operator with the defaults of the golden files makes for a Memcached, and
// records its inputs in the status of the Memcached. It returns nil if the spec is invalid.
func deployed(t *testing.T, mc *cachev1.Memcached) *appsv1.Deployment {
	t.Helper()
	p, err := computed(mc, plan.Current{SecretsUsable: true}, defaults)
	if err != nil {
		return nil
	}
	live := &appsv1.Deployment{}
	live.Annotations = map[string]string{names.AnnotationTemplateInputs: p.Record.Encode()}
	live.Spec.Template = renderedTemplate(t, p, nil)
	mc.Status.TemplateInputs = p.Record.Encode()
	return live
}

// inOtherWords returns a spec with the same meaning, in a form that is chosen at random.
func inOtherWords(random *rand.Rand, spec *cachev1.MemcachedSpec) {
	sometimes := func(change func()) {
		if random.IntN(2) == 0 {
			change()
		}
	}
	sometimes(func() { spellOut(spec) })
	sometimes(func() { spec.Memory = inOtherUnits(spec.Memory) })
	for _, lists := range []*cachev1.Resources{memcachedResources(spec), agentResources(spec)} {
		if lists != nil {
			rewrite(lists.Limits)
			rewrite(lists.Requests)
		}
	}
	shuffle(random, spec.ImagePullSecrets)
	if spec.TLS != nil {
		shuffle(random, spec.TLS.CipherSuites)
	}
	if spec.PodTemplate != nil && spec.PodTemplate.DNSConfig != nil {
		shuffle(random, spec.PodTemplate.DNSConfig.Options)
	}
	if spec.Placement != nil {
		sometimes(func() { spellOutPlacement(spec.Placement) })
		shuffle(random, spec.Placement.Architectures)
		shuffle(random, spec.Placement.PreferredArchitectures)
		shuffle(random, spec.Placement.Tolerations)
		shuffle(random, spec.Placement.TopologySpreadConstraints)
	}
}

func spellOut(spec *cachev1.MemcachedSpec) {
	orElse(&spec.Threads, int32(memcached.DefaultThreads))
	orElse(&spec.MaxConnections, int32(memcached.DefaultMaxConnections))
	orElse(&spec.Memory, *resource.NewQuantity(memcached.DefaultItemMemory, resource.BinarySI))
	orElse(&spec.MaxItemSize, *resource.NewQuantity(memcached.DefaultMaxItemSize, resource.BinarySI))
	orElse(&spec.PodTemplate, cachev1.PodTemplate{})
	orElse(&spec.PodTemplate.Metadata, cachev1.Metadata{})
	orElse(&spec.PodTemplate.DNSConfig, cachev1.DNSConfig{})
	spec.PodTemplate.ServiceAccountName = cmp.Or(spec.PodTemplate.ServiceAccountName, "default")
	orElse(&spec.Placement, cachev1.Placement{})
	orElse(&spec.Resources, cachev1.MemcachedResources{})
	spec.Resources.Profile = cmp.Or(spec.Resources.Profile, cachev1.ResourcesBurstable)
	orElse(&spec.Metrics, cachev1.Metrics{Mode: cachev1.MetricsEnabled, SlabMetrics: cachev1.SlabMetricsTotals})
	orElse(&spec.Rollout, cachev1.Rollout{})
	orElse(&spec.TerminationDelaySeconds, int32(30))
	orElse(&spec.Agent, cachev1.Agent{Resources: &cachev1.Resources{}})
	orElse(&spec.CommonMetadata, cachev1.Metadata{})
	orElse(&spec.Service, cachev1.Service{})
	spec.Placement.SchedulerName = cmp.Or(spec.Placement.SchedulerName, corev1.DefaultSchedulerName)
	if spec.TLS != nil {
		spec.TLS.MinVersion = cmp.Or(spec.TLS.MinVersion, cachev1.VersionTLS12)
	}
	if spec.Image == "" {
		spec.Image = defaults.Image
	}
	if spec.ImagePullPolicy == "" && pullPolicyOf(spec.Image) == pullPolicyOf(defaults.AgentImage) {
		spec.ImagePullPolicy = cachev1.ImagePullPolicy(pullPolicyOf(spec.Image))
	}
	if len(spec.Placement.Architectures) == 0 {
		for _, architecture := range slices.Backward(defaults.Architectures) {
			spec.Placement.Architectures = append(spec.Placement.Architectures, cachev1.Architecture(architecture))
		}
	}
}

func memcachedResources(spec *cachev1.MemcachedSpec) *cachev1.Resources {
	if spec.Resources == nil {
		return nil
	}
	return &spec.Resources.Resources
}

func agentResources(spec *cachev1.MemcachedSpec) *cachev1.Resources {
	if spec.Agent == nil {
		return nil
	}
	return spec.Agent.Resources
}

// spellOutPlacement changes the placement without a change to its meaning: it sets defaults, and repeats tolerations.
func spellOutPlacement(placement *cachev1.Placement) {
	for i := range placement.Tolerations {
		if toleration := &placement.Tolerations[i]; toleration.Operator == "" {
			toleration.Operator = corev1.TolerationOpEqual
		}
	}
	placement.Tolerations = append(placement.Tolerations, placement.Tolerations...)
	for i := range placement.TopologySpreadConstraints {
		constraint := &placement.TopologySpreadConstraints[i]
		orElse(&constraint.MinDomains, int32(1))
		orElse(&constraint.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor)
		orElse(&constraint.NodeTaintsPolicy, corev1.NodeInclusionPolicyIgnore)
	}
	orElse(&placement.Affinity, corev1.Affinity{})
	orElse(&placement.Affinity.PodAffinity, corev1.PodAffinity{})
	orElse(&placement.Affinity.PodAntiAffinity, corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{},
	})
}

func orElse[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func inOtherUnits(quantity *resource.Quantity) *resource.Quantity {
	if quantity == nil {
		return nil
	}
	return resource.NewMilliQuantity(quantity.MilliValue(), resource.DecimalExponent)
}

func rewrite(list corev1.ResourceList) {
	for name, quantity := range list {
		text, err := json.Marshal(quantity)
		if err == nil && len(text) < 15 { // Larger quantities don't fit into thousandths.
			list[name] = *inOtherUnits(&quantity)
		}
	}
}

func shuffle[T any](random *rand.Rand, list []T) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
