package kubelet

import (
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Order is the part of the operator's instruction that an agent follows.
type Order struct {
	Slot  string `json:"slot"`
	Role  string `json:"role"`
	From  string `json:"from"`
	Since string `json:"since"`
	Scale Scale  `json:"scale"`
}

// Scale is a change to the length of the clients' list of servers.
type Scale struct {
	Before  int    `json:"before"`
	After   int    `json:"after"`
	Servers string `json:"servers"`
}

// Copies reports whether the agent becomes ready only when it has copied keys.
func (o Order) Copies() bool { return o.Role == "receive" || o.Role == "send" }

// IsUnready reports whether the agent must not be ready yet, whatever it has copied.
func (o Order) IsUnready(now time.Time) bool {
	since, err := time.Parse(time.RFC3339, o.Since)
	return o.Role == "send" && err == nil && now.Before(since.Add(sendUnready))
}

// sendUnready is how long an agent that sends its keys to another Pod must not be ready, whatever it has copied.
const sendUnready = 12 * time.Second

// OrderOf reads the annotation with the instruction. An agent does not follow an annotation that cannot be parsed.
func OrderOf(pod *corev1.Pod) Order {
	var read Order
	if json.Unmarshal([]byte(pod.Annotations[annotation]), &read) != nil {
		return Order{}
	}
	return read
}

// player is the agent of one Pod.
type player struct {
	namespace string

	delay   time.Duration // for the agent to read an instruction, and for the kubelet to notice its readiness
	copying time.Duration // how long a copy takes

	next, current Order
	nextAt        time.Time
	copied        time.Time // when all keys are copied; zero means never
	isReady       bool

	ending *ending // set once its Pod terminates

	ended *corev1.ContainerStateTerminated // how the container ended since the last report
}

// follow notes an instruction, and carries it out once the agent has had the time to read it.
func (a *player) follow(o Order, now time.Time) {
	if o != a.next {
		a.next, a.nextAt = o, now.Add(a.delay)
	}
	if a.current != a.next && !now.Before(a.nextAt) {
		a.begin(a.next, now)
	}
	if a.current.Copies() {
		a.isReady = !a.copied.IsZero() && !now.Before(a.copied)
	}
}

// begin carries out an instruction. The agent is ready immediately, unless the instruction makes it copy keys first.
func (a *player) begin(o Order, now time.Time) {
	a.current, a.isReady = o, o.Role != "" && !o.Copies()
	switch {
	case o.Role == "send":
		a.copied = now.Add(max(a.copying, sendUnready))
	case o.Copies():
		a.copied = now.Add(a.copying)
	}
}

// isCopying reports whether the agent copies keys at a time.
func (a *player) isCopying(now time.Time) bool {
	return a.current == a.next && a.current.Copies() && !a.copied.IsZero() && now.Before(a.copied)
}

// end ends the container. The kubelet starts it again immediately, and the agent begins again.
func (a *player) end(code int32, message string, now time.Time) {
	at := metav1.NewTime(now)
	a.ended = &corev1.ContainerStateTerminated{ExitCode: code, Message: message, Reason: "Error", FinishedAt: at}
	a.begin(a.current, now.Add(a.delay))
}

// report writes the status of the container.
func (a *player) report(status *corev1.ContainerStatus, now time.Time) {
	status.Ready = a.isReady
	if a.ended != nil {
		status.RestartCount++
		status.LastTerminationState = corev1.ContainerState{Terminated: a.ended}
		status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}}
		a.ended = nil
	}
}
