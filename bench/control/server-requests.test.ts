import { describe, expect, it } from 'vitest';
import { parseRequestCounts, requestsBetween, totalOf, writesOf } from './server-requests.ts';

const METRICS = `# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="nodes",scope="resource",subresource="",verb="PATCH",version="v1"} 3
apiserver_request_total{code="409",component="apiserver",dry_run="",group="",resource="nodes",scope="resource",subresource="",verb="PATCH",version="v1"} 1
apiserver_request_total{code="200",component="apiserver",dry_run="",group="k8s.ovn.org",resource="userdefinednetworks",scope="resource",subresource="status",verb="APPLY",version="v1"} 1.2e+03
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="nodes",scope="cluster",subresource="",verb="LIST",version="v1"} 7
apiserver_request_total{code="200",component="apiserver",dry_run="",group="coordination.k8s.io",resource="leases",scope="resource",subresource="",verb="PUT",version="v1"} 9
apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="PUT",version="v1"} 2
apiserver_request_total{code="201",component="apiserver",dry_run="",group="discovery.k8s.io",resource="endpointslices",scope="resource",subresource="",verb="APPLY",version="v1"} 5
apiserver_request_duration_seconds_count{verb="PATCH"} 4
`;
const counts = parseRequestCounts(METRICS);

it('adds up what was asked for, whatever the answer was', () => {
  expect(Object.fromEntries(counts)).toEqual({
    'PATCH nodes': 4,
    'APPLY k8s.ovn.org/userdefinednetworks/status': 1200,
    'LIST nodes': 7,
    'PUT coordination.k8s.io/leases': 9,
    'PUT configmaps': 2,
    'APPLY discovery.k8s.io/endpointslices': 5,
  });
});

describe('what came between two readings', () => {
  it('is the difference, without what did not come', () => {
    const before = new Map([
      ['PATCH nodes', 1],
      ['LIST nodes', 7],
    ]);
    expect([...requestsBetween(before, counts).keys()]).not.toContain('LIST nodes');
    expect(requestsBetween(before, counts).get('PATCH nodes')).toBe(3);
  });

  it('are writes when something changes that is the cluster manager’s, but for Leases', () => {
    expect(totalOf(writesOf(counts))).toBe(1209);
  });
});
