import { describe, expect, it } from 'vitest';
import { KubeError } from '../../kube/errors.ts';
import type { ResourceType } from '../../kube/types.ts';
import { CliError, UnreachableNodeError } from '../errors.ts';
import { knownCause, readKnownCause, withKnownCause } from './known-cause.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const SINCE = '2026-01-01T00:00:30Z';

const node = (...conditions: readonly object[]) => ({
  metadata: { name: 'n1', uid: 'u', resourceVersion: '1' },
  status: { conditions },
});
const condition = (type: string, status: string, reason: string, message: string) => ({
  ...{ type, status, reason, message },
  lastTransitionTime: SINCE,
});
const report = (status: object) => ({
  metadata: { name: 'n1', uid: 'r', resourceVersion: '1' },
  status: {
    rendering: 'Always',
    networks: { ready: 1, pending: 0, failed: 0 },
    ids: { ready: '0', pending: '', failed: '' },
    ...status,
  },
});
const FRESH = { renewTime: '2026-01-01T00:00:50Z', leaseDurationSeconds: 40, failedComponents: [] };
const STALE = { ...FRESH, renewTime: '2026-01-01T00:00:01Z' };
const UPLINK = condition('NetworkUnavailable', 'True', 'UplinkNotOnBridge', 'uplink eth0 is not on br-ex');
const NOT_READY = condition('Ready', 'Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.');

describe('of a node that cannot be reached', () => {
  it('the condition of its network is the root cause', () => {
    expect(knownCause('n1', { node: node(NOT_READY, UPLINK), report: report(STALE) }, NOW)).toBe(
      `n1: NetworkUnavailable=UplinkNotOnBridge since ${SINCE}: uplink eth0 is not on br-ex`,
    );
  });

  it('without one, what its agent has reported last, or that it does not report', () => {
    const failed = { component: 'kubelet-cgroup', message: 'the kubelet has stopped', since: SINCE };
    expect(
      knownCause('n1', { node: node(NOT_READY), report: report({ ...FRESH, failedComponents: [failed] }) }, NOW),
    ).toBe('n1: the kubelet has stopped');
    const isUp = condition('NetworkUnavailable', 'False', 'OVNUDNIsUp', 'all work');
    expect(knownCause('n1', { node: node(isUp), report: report(STALE) }, NOW)).toMatch(
      /^n1: udn-agent does not renew its report/,
    );
  });

  it('then what its kubelet has not reported', () => {
    const expected = `n1: Ready=Unknown since ${SINCE}: NodeStatusUnknown: Kubelet stopped posting node status.`;
    expect(knownCause('n1', { node: node(NOT_READY), report: report(FRESH) }, NOW)).toBe(expected);
    expect(knownCause('n1', { node: node(NOT_READY), report: undefined }, NOW)).toBe(expected);
  });

  it('nothing is made up where nothing is known', () => {
    const ready = condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status');
    expect(knownCause('n1', { node: node(ready), report: report(FRESH) }, NOW)).toBeUndefined();
    expect(knownCause('n1', { node: undefined, report: undefined }, NOW)).toBeUndefined();
  });

  it('what the user may not read explains nothing', async () => {
    const get = ({ plural }: ResourceType) =>
      plural === 'nodes'
        ? Promise.resolve(node(UPLINK))
        : Promise.reject(new KubeError('ERR_KUBE_STATUS', 'forbidden', { status: 403 }));
    expect(await readKnownCause({ get }, 'n1')).toMatch(/^n1: NetworkUnavailable=UplinkNotOnBridge/);
  });

  it.each([
    ['problems', 1],
    ['explain', 2],
    ['diff', 2],
  ])('the error of %s has it in its first line, and exit status %d', async (command, exitStatus) => {
    const client = { get: () => Promise.resolve(node(UPLINK)) };
    const lost = new UnreachableNodeError('pod a cannot be reached: no route');
    expect(await withKnownCause(lost, { client, node: 'n1', command })).toMatchObject({
      ...{ exitStatus, name: 'CliError' },
      message: expect.stringMatching(/^n1: NetworkUnavailable=.*\nudnctl: pod a cannot be reached: no route$/),
    });
    const other = new CliError('pod a was deleted', 2);
    expect(await withKnownCause(other, { client, node: 'n1', command })).toBe(other);
  });
});
