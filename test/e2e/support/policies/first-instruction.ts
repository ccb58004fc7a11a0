/** Pods whose first instruction opens connections, and what comes of these. */
import { z } from 'zod';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { pod } from '../cluster/manifests.ts';
import { SERVED } from '../services/services.ts';
import type { Member } from './members.ts';

const DONE = '/tmp/done';
const ANSWERS = '/tmp/answers';

export interface Burst {
  readonly to: readonly Member[];
  /** Connections of each protocol to each of their addresses. */
  readonly times: number;
  /** How often each is tried until somebody answers, for 300 ms each time. */
  readonly tries: number;
}

/** Before it serves anything it tries to reach these. */
export const burstPod = (
  namespace: string,
  name: string,
  node: string,
  labels: Readonly<Record<string, string>>,
  burst: Burst,
): ManifestObject => {
  const made = pod(namespace, name, node);
  const probe = `toolbox probe --timeout 300 --tries ${burst.tries} --udp-port ${SERVED.UDP} --tcp-port ${SERVED.TCP}`;
  const command = ['sh', '-c', `echo "$PROBES" | ${probe} > ${ANSWERS}; touch ${DONE}; exec toolbox serve`];
  const env = [{ name: 'PROBES', value: linesOf(burst).join('\n') }];
  return {
    ...made,
    metadata: { ...made.metadata, labels },
    spec: { ...(made['spec'] as object), containers: [{ name: 'main', image: 'toolbox', command, env }] },
  };
};

const linesOf = ({ to, times }: Pick<Burst, 'to' | 'times'>): string[] =>
  Array.from({ length: times }, (_, time) => time).flatMap((time) =>
    to.flatMap(({ addresses }) =>
      addresses.flatMap((address) =>
        ['tcp', 'udp'].map((protocol) => `${time} ${address.includes(':') ? 6 : 4} ${protocol} ${address}`),
      ),
    ),
  );

/** Who answered, by how many of how many. Resolves when all of the pod's first connections are over. */
export const burstOf = async (
  sandbox: Pick<Sandbox, 'exec'>,
  key: string,
): Promise<{ readonly tried: number; readonly answered: number; readonly who: readonly string[] }> => {
  const { stdout } = await sandbox.exec(key, ['sh', '-c', `until [ -e ${DONE} ]; do sleep 0.05; done; cat ${ANSWERS}`]);
  return summary(stdout);
};

/** Somebody tries the pod all the time from before it is there, until it has served for a while. */
export const besiege = async (
  sandbox: Pick<Sandbox, 'exec'>,
  by: Member,
  addresses: readonly string[],
): Promise<{ readonly tried: number; readonly answered: number; readonly who: readonly string[] }> => {
  const lines = linesOf({ to: [{ ...by, addresses }], times: 1 });
  const argv = ['toolbox', 'probe', '--timeout', '30', '--tries', '100'];
  const { stdout } = await sandbox.exec(by.key, argv, { input: `${lines.join('\n')}\n` });
  return summary(stdout);
};

const summary = (stdout: string) => {
  const answers = stdout.split('\n').flatMap((line) => (line === '' ? [] : [answerSchema.parse(JSON.parse(line))]));
  const answered = answers.filter((one) => one.answered);
  return { tried: answers.length, answered: answered.length, who: [...new Set(answered.map(({ who }) => who ?? ''))] };
};

const answerSchema = z.object({ answered: z.boolean(), who: z.string().nullable() });
