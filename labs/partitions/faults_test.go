package partitions

import (
	"context"
	"testing"

	"loglab/labs"
)

// A page can be drawn whatever was done to the cluster, and everything that can be opened opens.
func TestPagesOfBrokenClusters(t *testing.T) {
	runs := labs.NewRuns(1 << 28)
	for _, faults := range []string{
		"do=2:kill+b1", "do=2:power-loss+b1", "do=2:wipe+b1", "do=2:shut-down+b1", "do=2:kill+b1&do=4:wipe+b1", "do=2:kill+b1&do=3:start+b1", "do=2:wipe+b1&do=3:start+b1",
		"do=2:kill+p0", "do=2:kill+p0&do=4:start+p0", "do=2:kill+c0", "do=2:kill+c0&do=4:start+c0", "do=2:kill+p0&do=3:kill+c0&do=4:kill+b1", "do=2:kill+p0&do=3:add-partitions+orders+to+9",
		"do=2:kill+c0&do=3:add-partitions+orders+to+9", "do=2:cut+b1+p0&do=2:cut+b1+c1&do=3:cut+b1+controller", "do=0:kill+b1&do=0:kill+p0", "do=2:slow-disk+b1+1h", "do=3:pause+controller&do=4:add-partitions+orders+to+9",
		"do=1:drop-next+p0+b1&do=2:double-next+b1+p0", "do=2:alter-config+orders+min.insync.replicas+2", "do=2:kill+b1&do=3:wait+20s&do=4:start+b1&do=5:wait+10s",
	} {
		for _, at := range []string{"", "&at=record:orders-0:0", "&at=batch:orders-0:0", "&at=segment:orders-0:0", "&at=find:orders-0:1", "&at=node:b1", "&at=node:p0", "&at=node:c0", "&at=message:4", "&why=3"} {
			for _, tick := range []string{"&t=2", "&t=3", "&t=9", "&t=60"} {
				for _, setup := range []string{"", "keys=0&", "second=fnv1a&consumers=2&work=5&"} {
					query := setup + faults + tick + at
					if err := draw(runs, query); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

func draw(runs *labs.Runs, query string) error {
	a, err := labs.Parse(Lab(), labs.Pages, query)
	if err == nil {
		_, err = runs.Page(context.Background(), a)
	}
	return err
}
