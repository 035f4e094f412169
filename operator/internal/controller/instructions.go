package controller

// Log lines about what Pods are instructed to do for their slots. Instructions are not recorded as events: each handoff
// has one event, when it ends.

import (
	"cmp"
	"fmt"

	"github.com/go-logr/logr"

	"github.com/example-inc/memcached-operator/operator/internal/instruction"
	"github.com/example-inc/memcached-operator/operator/internal/slots"
)

// logInstructions logs each new instruction that was written into a Pod.
func logInstructions(log logr.Logger, pods []slots.Pod, written []slots.Change) {
	before, names := map[string]instruction.Instruction{}, map[string]string{}
	for _, pod := range pods {
		before[pod.UID], names[pod.IP] = pod.Instruction, pod.Name
	}
	for _, change := range written {
		if change.Container != nil {
			log.Info("The container of memcached is resized", "pod", change.Pod, "memoryLimit", change.Container.Limit)
		}
		if change.Instruction == nil {
			continue
		}
		was, is := before[change.UID].Order(), change.Instruction.Order()
		if is.Memory != was.Memory {
			log.Info("Memcached gets other memory for items", "pod", change.Pod, "memory", is.Memory)
		}
		if was.Memory = is.Memory; is == was {
			continue
		}
		from := cmp.Or(names[change.Instruction.From], change.Instruction.From)
		log.Info(instructed(change, from), "pod", change.Pod, "role", string(change.Instruction.Role))
	}
}

// instructed returns a line for the log that says what a Pod is to do from now on.
func instructed(change slots.Change, from string) string {
	pod, i := change.Pod, change.Instruction
	switch i.Role {
	case instruction.Serve:
		return fmt.Sprintf("Slot %s: Pod %s serves it", i.Slot, pod)
	case instruction.Cold:
		return fmt.Sprintf("Slot %s: Pod %s takes it empty (%s)", i.Slot, pod, cmp.Or(i.Record.Reason, "it is new"))
	case instruction.Receive:
		if i.Scale != (instruction.Scale{}) {
			return fmt.Sprintf("Slot %s: Pod %s copies the keys that clients will look for in it, from %d Pods", i.Slot, pod,
				i.Scale.Before)
		}
		return fmt.Sprintf("Slot %s: Pod %s copies the keys of Pod %s", i.Slot, pod, from)
	case instruction.Send:
		return fmt.Sprintf("Slot %s: Pod %s copies its keys to the %d Pods that stay", i.Slot, pod, i.Scale.After)
	case instruction.Moved:
		if i.Scale != (instruction.Scale{}) {
			return fmt.Sprintf("Slot %s: clients are learning the list of %d slots, and Pod %s removes the keys that clients "+
				"with the former list change", i.Slot, i.Scale.After, pod)
		}
		return fmt.Sprintf("Slot %s: moved to Pod %s, while Pod %s still serves connected clients", i.Slot, pod, from)
	case instruction.Leave:
		return fmt.Sprintf("Slot %s: Pod %s gave it away, and ends memcached in %d s", i.Slot, pod, i.End)
	case instruction.None:
	}
	return fmt.Sprintf("Pod %s has no slot any more", pod)
}
