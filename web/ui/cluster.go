package ui

import (
	"strconv"
	"strings"

	"loglab/labs/view"
)

func clusterClass(c view.Cluster) string {
	return classes{"cluster", "beside-" + strconv.Itoa(min(max(c.Columns, 1), 4))}.String()
}

func nodeClass(n view.Node) string {
	c := classes{"node", n.State}
	c.add("with-replicas", len(n.Replicas) > 0)
	return c.String()
}

func replicaClass(r view.Replica) string {
	c := classes{"replica", r.Role, "sync-" + r.Sync}
	c.add("differs", r.Differs)
	return c.String()
}

func roleClass(r view.Replica) string { return "role role-" + r.Role }

func syncClass(r view.Replica) string { return "sync is-" + r.Sync }

// replicaName is what a replica is called by those who hear the page.
func replicaName(r view.Replica) string {
	parts := []string{r.Name, r.RoleText, r.SyncText}
	if r.Note != "" {
		parts = append(parts, r.Note)
	}
	return strings.Join(parts, ", ")
}

func countClass(c view.Count) string {
	k := classes{"count"}
	k.add("warn", c.Warn)
	return k.String()
}
