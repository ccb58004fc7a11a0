/** When pods of Open vSwitch and OVN were replaced: where the userspace datapath is a process of theirs, nothing is forwarded meanwhile. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Kubectl } from '../../../conformance/kube/kubectl.ts';
import type { Span, Traffic } from './traffic.ts';

export interface Replacements {
  /** From the creation of the next pod of a node, whose containers start beside the old ones, to the end of the old one, and until flows are installed again. */
  stop(): Promise<readonly Span[]>;
}

/** ovn-controller installs all flows anew, on a machine that does other work, too. */
const SETTLED_MS = 10_000;
/** Between an event of the API server and its line here. */
const LATE_MS = 1_000;

const COLUMNS = '{.type} {.object.metadata.creationTimestamp}{"\\n"}';

export const watchReplacements = (kubectl: Kubectl, namespace: string): Replacements => {
  const selector = ['--selector', 'app.kubernetes.io/name=udn-ovn'];
  const output = ['--watch', '--output-watch-events', '-o', `jsonpath=${COLUMNS}`];
  const watch = kubectl.start('--namespace', namespace, 'get', 'pods', ...selector, ...output);
  const start = Date.now();
  let begun: number | undefined;
  const spans: Span[] = [];
  createInterface(watch.stdout).on('line', (line) => {
    const [type = '', created = ''] = line.split(' ');
    const now = Date.now();
    // Creation is told in whole seconds, and those that were there come first.
    if (type === 'ADDED' && Date.parse(created) >= start) begun ??= now - LATE_MS;
    if (type !== 'DELETED') return;
    spans.push({ from: begun ?? now - LATE_MS, to: now + SETTLED_MS });
    begun = undefined;
  });
  return {
    stop: async () => {
      if (watch.exitCode !== null) throw new Error(`kubectl --watch ended with ${watch.exitCode}`);
      const ended = once(watch, 'close');
      watch.kill();
      await ended;
      return spans;
    },
  };
};

/** What was lost and refused at other times. Pure. */
export const outside = (traffic: Traffic, spans: readonly Span[]): Traffic => {
  const isOutside = (at: number): boolean => !spans.some(({ from, to }) => from <= at && at <= to);
  return {
    pings: traffic.pings.map((flow) => ({ ...flow, lost: flow.lost.filter(isOutside) })),
    streams: traffic.streams,
    requests: traffic.requests.map((one) => ({ ...one, failed: one.failed.filter(({ at }) => isOutside(at)) })),
  };
};
