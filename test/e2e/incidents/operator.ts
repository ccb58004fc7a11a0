/** What an operator asks who has a kubeconfig and no account on a node, and within which time the answer is there. */
import { expect } from 'vitest';
import { NODES } from '../../../kube/resources.ts';
import type { Objects, Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { type Said, udnctlOutside } from '../support/cluster/udnctl.ts';

/** The node on which everything happens. */
export const NODE = 'node-1';
/** Within which an operator finds the cause. */
export const MINUTE_MS = 60_000;

export interface Operator {
  readonly cluster: () => Sandbox;
  /** udnctl on this machine. */
  readonly asked: (...args: readonly string[]) => Promise<Said>;
  /** `udnctl problems` about the node. */
  readonly problems: () => Promise<Said>;
  /** Its first line, within a minute. @param exitStatus 1 for an error, 0 for what is no more than a warning */
  readonly problemBecomes: (line: string | RegExp, exitStatus: 0 | 1) => Promise<void>;
  /** The first line that udnctl writes, within a minute. */
  readonly answers: (args: readonly string[], line: string | RegExp) => Promise<void>;
  /** `kubectl get node`: its condition `NetworkUnavailable`. */
  readonly unavailable: () => Promise<NodeCondition | undefined>;
  /** The node has no error, and nothing that is not of this kernel or has been repaired. */
  readonly isWell: () => Promise<void>;
  readonly objects: () => Promise<Objects>;
  /** Makes incidents, and ends them: no answer comes from there. */
  readonly onNode: (script: string) => Promise<string>;
}

export interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export const operatorOf = (cluster: () => Sandbox): Operator => {
  const asked: Operator['asked'] = (...args) => udnctlOutside(cluster(), ...args);
  const problems = (): Promise<Said> => asked('problems', '--node', NODE);
  return {
    ...{ cluster, asked, problems },
    problemBecomes: (line, exitStatus) =>
      eventually(async () => {
        const said = await problems();
        expect(firstLine(said), said.stderr).toMatch(line);
        expect(said.status).toBe(exitStatus);
      }, MINUTE_MS),
    answers: (args, line) => eventually(async () => expect(firstLine(await asked(...args))).toMatch(line), MINUTE_MS),
    unavailable: async () => {
      const { status } = await (await cluster().client()).get(NODES, { name: NODE });
      const { conditions = [] } = (status ?? {}) as { conditions?: NodeCondition[] };
      return conditions.find(({ type }) => type === 'NetworkUnavailable');
    },
    isWell: () =>
      eventually(async () => {
        const { stdout, stderr, status } = await problems();
        expect(withoutPast(stdout), stderr).toMatch(/^(no problems\n)?$/);
        expect(status).toBe(0);
      }, MINUTE_MS),
    objects: () => cluster().objects(),
    onNode: async (script) => (await cluster().node(NODE, ['sh', '-ec', script])).stdout,
  };
};

export const firstLine = ({ stdout }: Said): string => stdout.split('\n')[0] ?? '';

/** What this kernel lacks stays, and nftables that were flushed three times are a warning for five minutes. */
const withoutPast = (problems: string): string =>
  problems.replaceAll(/^(info .*|warning .*changed-by-others.*)\n( .*\n)*/gm, '');
