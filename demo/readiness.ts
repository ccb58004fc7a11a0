/** Waits for what was applied, and finds out what is wrong with what does not get ready. */
import { z } from 'zod';
import { type ProblemStatus, podStatusSchema, problemSchema } from '../api/agent-status.ts';
import { messageOf } from '../base/error-message.ts';
import { isRecord, recordOr } from '../kube/is-record.ts';
import type { ManifestObject, Objects, Sandbox } from '../sandbox/index.ts';
import { DemoError } from './errors.ts';

/** What each kind has to say of itself before it can be used. */
const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  UserDefinedNetwork: ['NetworkCreated', 'NetworkAllocationSucceeded'],
  ClusterUserDefinedNetwork: ['NetworkCreated', 'NetworkAllocationSucceeded'],
  Pod: ['Ready'],
};

export const getsReady = ({ kind }: ManifestObject): boolean => kind in CONDITIONS;

interface Stuck {
  readonly object: ManifestObject;
  readonly why: string;
}

/**
 * @param onReady called once for each object that is
 * @throws DemoError ERR_DEMO_NOT_READY with conditions, events and the agents' problems
 */
export const waitUntilReady = async (
  sandbox: Pick<Sandbox, 'objects' | 'node' | 'status'>,
  manifests: readonly ManifestObject[],
  timeoutSeconds: number,
  onReady: (object: ManifestObject) => void,
): Promise<void> => {
  const objects = await sandbox.objects();
  const waits = manifests.filter(getsReady).map(async (object): Promise<Stuck | undefined> => {
    try {
      for (const condition of CONDITIONS[object.kind] ?? []) {
        await objects.wait(object.kind, nameOf(object), `condition=${condition}`, { timeoutSeconds });
      }
      onReady(object);
      return undefined;
    } catch (error) {
      return { object, why: messageOf(error) };
    }
  });
  const stuck = (await Promise.all(waits)).filter((one) => one !== undefined);
  if (stuck.length === 0) return;
  const message = stuck.length === 1 ? 'an object is not ready' : `${stuck.length} objects are not ready`;
  throw new DemoError('ERR_DEMO_NOT_READY', message, await diagnose(sandbox, objects, stuck));
};

const nameOf = ({ metadata: { namespace, name = '' } }: ManifestObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** Pods wait for networks: what is wrong with a network comes first. Best effort: it may be the API server that fails. */
const diagnose = async (
  sandbox: Pick<Sandbox, 'node' | 'status'>,
  objects: Objects,
  stuck: readonly Stuck[],
): Promise<string[]> => {
  const networksFirst = [...stuck].sort((a, b) => Number(a.object.kind === 'Pod') - Number(b.object.kind === 'Pod'));
  const lines = await Promise.all(
    networksFirst.map(async ({ object, why }) => [
      why,
      ...(await eventsOf(objects, object).catch((error: unknown) => [`its events: ${messageOf(error)}`])).map(indent),
    ]),
  );
  const agents = await agentsSay(sandbox, new Set(stuck.map(({ object }) => nameOf(object)))).catch(
    (error: unknown) => [messageOf(error)],
  );
  return [...lines.flat(), ...agents];
};

const indent = (text: string): string => `  ${text}`;

const SHOWN_EVENTS = 3;

const eventsOf = async (objects: Objects, { kind, metadata }: ManifestObject): Promise<string[]> => {
  const events = await objects.list('events', metadata.namespace);
  return events
    .map((event): Record<string, unknown> => ({ ...event }))
    .filter(({ involvedObject, regarding }) => {
      const about = recordOr(involvedObject ?? regarding);
      return about['kind'] === kind && about['name'] === metadata.name;
    })
    .slice(-SHOWN_EVENTS)
    .map(({ reason, message, note }) => `event ${String(reason)}: ${String(message ?? note ?? '')}`);
};

/** Problems of every node's agent, and what they say of the pods that are stuck. */
const agentsSay = async (sandbox: Pick<Sandbox, 'node' | 'status'>, stuck: ReadonlySet<string>): Promise<string[]> => {
  const { nodes } = await sandbox.status();
  const messages = await Promise.all(
    nodes.map(async ({ name }) => {
      try {
        const problems = z.array(problemSchema).parse(await askAgent(sandbox, name, 'problems'));
        const pods = z.array(podStatusSchema).parse(await askAgent(sandbox, name, 'pods'));
        return [...problems.map(describeProblem), ...pods.flatMap((pod) => describePod(pod, stuck))].map(
          (text) => `the agent of ${name}: ${text}`,
        );
      } catch (error) {
        return [`the agent of ${name} does not answer: ${messageOf(error)}`];
      }
    }),
  );
  return messages.flat();
};

const describeProblem = ({ object, severity, message }: ProblemStatus): string => `${severity}: ${object}: ${message}`;

const describePod = (
  { namespace, name, state, message }: z.output<typeof podStatusSchema>,
  stuck: ReadonlySet<string>,
): string[] => {
  const key = `${namespace}/${name}`;
  return stuck.has(key) ? [`pod ${key} is ${state}${message === undefined ? '' : `: ${message}`}`] : [];
};

const ANSWER_SECONDS = '3';

const askAgent = async (sandbox: Pick<Sandbox, 'node'>, node: string, path: string): Promise<unknown> => {
  const curl = ['curl', '--silent', '--show-error', '--fail', '--max-time', ANSWER_SECONDS];
  const { stdout } = await sandbox.node(node, [...curl, '--unix-socket', AGENT_SOCKET, `http://agent/v1/${path}`]);
  const answer: unknown = JSON.parse(stdout);
  if (!Array.isArray(answer)) throw new Error(isRecord(answer) ? Object.keys(answer).join(', ') : String(answer));
  return answer;
};

const AGENT_SOCKET = '/run/ovn-udn/agent.sock';
