/** What an operator asks who has a kubeconfig and no account on a node, and within which time the answer is there. */
import { expect } from 'vitest';
import { NODES } from '../../../kube/resources.ts';
import type { Objects, Sandbox } from '../../../sandbox/index.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { type Said, udnctlOutside } from '../support/cluster/udnctl.ts';
import type { IncidentId } from './pages.ts';
import { withoutPast } from './recorded.ts';
import { createRecorder, type Recorder } from './recorder.ts';

/** The node on which everything happens. */
export const NODE = 'node-1';
/** Within which an operator finds the cause. */
export const MINUTE_MS = 60_000;
/** A report counts for 40 s, and for as long again from when the API server, to the cluster manager, was back. */
const SILENCE_MS = 100_000;

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
  /** The same, and what docs/operations.md shows of the incident. */
  readonly of: (incident: IncidentId) => Witness;
  /** `kubectl get node`: its condition `NetworkUnavailable`. */
  readonly unavailable: () => Promise<NodeCondition | undefined>;
  /** The node has no error, and nothing that is not of this kernel or has been repaired. */
  readonly isWell: () => Promise<void>;
  readonly objects: () => Promise<Objects>;
  /** Makes incidents, and ends them: no answer comes from there. */
  readonly onNode: (script: string) => Promise<string>;
  readonly recorder: Recorder;
}

export interface Witness extends Pick<Operator, 'problemBecomes' | 'answers'> {
  /** The whole output, which need not be that of a success. */
  readonly shows: (args: readonly string[], said: Said) => void;
  /** `True REASON: message` of the condition `NetworkUnavailable`, within a minute, by kubectl. */
  readonly unavailableBecomes: (line: RegExp) => Promise<void>;
}

export interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export const operatorOf = (cluster: () => Sandbox): Operator => {
  const recorder = createRecorder();
  const asked: Operator['asked'] = (...args) => udnctlOutside(cluster(), ...args);
  const problems = (): Promise<Said> => asked(...PROBLEMS);
  const problemOnce = async (line: string | RegExp, exitStatus: 0 | 1): Promise<Said> => {
    const said = await problems();
    expect(firstLine(said), said.stderr).toMatch(line);
    expect(said.status).toBe(exitStatus);
    return said;
  };
  const answerOnce = async (args: readonly string[], line: string | RegExp): Promise<Said> => {
    const said = await asked(...args);
    expect(firstLine(said), said.stderr).toMatch(line);
    return said;
  };
  return {
    ...{ cluster, asked, problems, recorder },
    problemBecomes: async (...expected) => void (await eventually(() => problemOnce(...expected), MINUTE_MS)),
    answers: async (...expected) => void (await eventually(() => answerOnce(...expected), MINUTE_MS)),
    of: (incident) => {
      const shows: Witness['shows'] = (args, { stdout }) =>
        recorder.shows(incident, `udnctl ${args.join(' ')}`, stdout);
      return {
        shows,
        // What the page shows may come a moment after a line that is as true.
        problemBecomes: (...expected) =>
          eventually(async () => shows(PROBLEMS, await problemOnce(...expected)), MINUTE_MS),
        answers: (args, line) => eventually(async () => shows(args, await answerOnce(args, line)), MINUTE_MS),
        unavailableBecomes: (line) =>
          eventually(async () => {
            const text = await networkUnavailable(cluster());
            expect(text).toMatch(line);
            recorder.shows(incident, `kubectl ${GET_UNAVAILABLE}`, text);
          }, SILENCE_MS),
      };
    },
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

const PROBLEMS = ['problems', '--node', NODE] as const;

const GET_UNAVAILABLE = `get node ${NODE} -o jsonpath='{range .status.conditions[?(@.type=="NetworkUnavailable")]}{.status} {.reason}: {.message}{end}'`;

/** By the kubectl of the other node, which has an account at the API server. */
const networkUnavailable = async (cluster: Sandbox): Promise<string> =>
  (await cluster.node('node-2', ['sh', '-c', `kubectl --kubeconfig /etc/ovn-udn/agent.kubeconfig ${GET_UNAVAILABLE}`]))
    .stdout;

export const firstLine = ({ stdout }: Said): string => stdout.split('\n')[0] ?? '';
