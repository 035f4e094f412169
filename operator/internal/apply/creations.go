package apply

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// creationTTL is how long a creation is remembered if the watch does not report it, or reported it before the answer
// arrived.
const creationTTL = time.Minute

// creations remembers created objects until the watch reports them, so that the event of a creation can be ignored.
type creations struct {
	now func() time.Time

	mu       sync.Mutex
	made     map[types.UID]creation
	tidiedAt time.Time
}

type creation struct {
	version string
	at      time.Time
}

func newCreations() *creations {
	return &creations{now: time.Now, made: map[types.UID]creation{}}
}

// note records an object from the API server's answer to its creation.
func (c *creations) note(answer *metav1ac.ObjectMetaApplyConfiguration) {
	if answer.UID == nil || answer.ResourceVersion == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.made[*answer.UID] = creation{version: *answer.ResourceVersion, at: now}
	if now.Sub(c.tidiedAt) < creationTTL {
		return
	}
	c.tidiedAt = now
	for uid, made := range c.made {
		if now.Sub(made.at) > creationTTL {
			delete(c.made, uid)
		}
	}
}

// take forgets a creation, and reports whether the object is still as it was created.
func (c *creations) take(object metav1.Object) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	made, known := c.made[object.GetUID()]
	delete(c.made, object.GetUID())
	return known && made.version == object.GetResourceVersion()
}
