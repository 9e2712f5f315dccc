package controller

import (
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"loglab/engine/journal"
	"loglab/engine/metadata"
)

// uncleanLeaderElectionEnable is the name of the setting that allows unclean elections.
const uncleanLeaderElectionEnable = "unclean.leader.election.enable"

func isTrue(value string) bool { return strings.EqualFold(value, "true") }

// incrementalAlterConfigs sets and removes settings of topics, and of all brokers. A change of
// min.insync.replicas makes the controller forget the eligible leader replicas that the old minimum gave. A
// change of unclean.leader.election.enable elects nobody by itself: the timer of
// unclean.leader.election.interval.ms does, or the next change of the partition.
//
// Simplified: settings of one broker are refused, and so is adding to or taking from a list.
//
// Simplified: only min.insync.replicas and unclean.leader.election.enable are checked; other names and values are
// kept as they come.
//
// Source: ConfigurationControlManager.incrementalAlterConfigs.
func (c *Controller) incrementalAlterConfigs(r *kmsg.IncrementalAlterConfigsRequest) (kmsg.Response, operation) {
	response := r.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
	var op operation
	var clear []metadata.Record
	for i, resource := range r.Resources {
		result := kmsg.NewIncrementalAlterConfigsResponseResource()
		result.ResourceType, result.ResourceName = resource.ResourceType, resource.ResourceName
		var refused *Refusal
		if duplicateResource(r.Resources, i) {
			refused = refuse(kerr.InvalidRequest, "Duplicate resource.")
		} else {
			var changed operation
			if changed, refused = c.alterConfigs(resource); refused == nil {
				op.records = append(op.records, changed.records...)
				op.events = append(op.events, changed.events...)
				clear = append(clear, c.clearELR(changed.records)...)
			}
		}
		result.ErrorCode, result.ErrorMessage = refused.parts()
		response.Resources = append(response.Resources, result)
	}
	op.records = append(op.records, clear...)
	if r.ValidateOnly {
		return response, operation{}
	}
	return response, op
}

func duplicateResource(resources []kmsg.IncrementalAlterConfigsRequestResource, at int) bool {
	for i, other := range resources {
		if i != at && other.ResourceType == resources[at].ResourceType && other.ResourceName == resources[at].ResourceName {
			return true
		}
	}
	return false
}

// clearELR gives the records that go with changes of min.insync.replicas.
//
// Source: ConfigurationControlManager.createClearElrRecordsAsNeeded.
func (c *Controller) clearELR(changes []metadata.Record) []metadata.Record {
	var clear []metadata.Record
	for _, r := range changes {
		change := r.(metadata.ConfigRecord)
		if change.Name != metadata.MinInSyncReplicas || !c.image.ELREnabled() {
			continue
		}
		if change.ResourceType == metadata.TopicResource {
			clear = append(clear, metadata.ClearELRRecord{TopicName: change.ResourceName})
		} else {
			clear = append(clear, metadata.ClearELRRecord{})
		}
	}
	return clear
}

// alterConfigs gives the records and events of one resource's changes, or refuses all of them.
//
// Source: ConfigurationControlManager.incrementalAlterConfigResource, validateAlterConfig.
func (c *Controller) alterConfigs(resource kmsg.IncrementalAlterConfigsRequestResource) (op operation, refused *Refusal) {
	kind := metadata.ResourceType(resource.ResourceType)
	settings, called := c.image.ClusterConfig, "all brokers"
	switch {
	case kind == metadata.TopicResource:
		t, known := c.image.Topic(resource.ResourceName)
		if !known {
			return op, refuse(kerr.UnknownTopicOrPartition, "The topic '%s' does not exist.", resource.ResourceName)
		}
		settings, called = t.Config, "topic "+t.Name
	case kind != metadata.BrokerResource || resource.ResourceName != "":
		return op, refuse(kerr.InvalidRequest, "Settings can be altered of topics and of all brokers.")
	}
	for _, config := range resource.Configs {
		from, set := metadata.Lookup(settings, config.Name)
		record := metadata.ConfigRecord{ResourceType: kind, ResourceName: resource.ResourceName, Name: config.Name}
		to := ""
		switch config.Op {
		case kmsg.IncrementalAlterConfigOpSet:
			if config.Value == nil {
				return op, refuse(kerr.InvalidRequest, "Null value not supported for : SET:%s", config.Name)
			}
			if refused := checkSetting(config.Name, *config.Value); refused != nil {
				return op, refused
			}
			record.Value, to = config.Value, *config.Value
		case kmsg.IncrementalAlterConfigOpDelete:
			if config.Name == metadata.MinInSyncReplicas && kind == metadata.BrokerResource && c.image.ELREnabled() {
				return op, refuse(kerr.InvalidConfig, "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.")
			}
		default:
			return op, refuse(kerr.InvalidConfig, "Can't %s to key %s because its type is not LIST.", strings.ToUpper(config.Op.String()), config.Name)
		}
		unchanged := set == (record.Value != nil) && from == to
		if unchanged && kind == metadata.TopicResource {
			continue
		}
		op.records = append(op.records, record)
		op.events = append(op.events, journal.ConfigChanged{
			Resource: called, Name: config.Name, From: from, To: to, ELRCleared: config.Name == metadata.MinInSyncReplicas && c.image.ELREnabled(),
		})
	}
	return op, nil
}

// checkSetting refuses a value that the controller itself could not work with.
//
// Source: ConfigDef.
func checkSetting(name, value string) *Refusal {
	switch name {
	case metadata.MinInSyncReplicas:
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
		if err != nil {
			return refuse(kerr.InvalidConfig, "Invalid value %s for configuration %s: Not a number of type INT", value, name)
		}
		if n < 1 {
			return refuse(kerr.InvalidConfig, "Invalid value %s for configuration %s: Value must be at least 1", value, name)
		}
	case uncleanLeaderElectionEnable:
		if !isTrue(value) && !strings.EqualFold(value, "false") {
			return refuse(kerr.InvalidConfig, "Invalid value %s for configuration %s: Expected value to be either true or false", value, name)
		}
	}
	return nil
}
