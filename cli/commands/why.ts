/** `udnctl why`: why something is not ready, or not gone, from the API server alone. */

import type { KubeClient } from '../../kube/types.ts';
import { type NamespaceOptions, namespaceOf, PROGRAMS_NAMESPACE, withClient } from '../cluster/cluster-command.ts';
import { readCluster } from '../cluster/read-cluster.ts';
import { CliError } from '../errors.ts';
import type { TextOutput } from '../output/format.ts';
import { sceneOf } from '../why/allocations.ts';
import type { Diagnosis, Finding } from '../why/finding.ts';
import { type Question, SUBJECTS, why } from '../why/subject.ts';

export interface WhyOutput extends TextOutput {
  /** 0: it is ready; 1: it is not, or is not there. */
  readonly exitStatus: 0 | 1;
}

export const whyOf = (words: readonly string[], options: NamespaceOptions): Promise<WhyOutput> =>
  withClient(options, ({ client, namespace }) =>
    askWhy(client, questionOf(words, namespaceOf(options, namespace) ?? namespace), Date.now()),
  );

/** @param words NAME, KIND NAME or KIND/NAME, as kubectl has it @throws CliError */
export const questionOf = (words: readonly string[], namespace: string): Question => {
  const [first = '', second] = words;
  const [kind, name] = second === undefined ? splitKind(first) : [first, second];
  const subject = SUBJECTS.find((one) => one === kind) ?? LONG_NAMES[kind];
  if (subject === undefined) throw new CliError(`"${kind}" is not ${SUBJECTS.join(', ')}`, 2);
  if (name === '' || name.split('/').length > 2) throw new CliError(`"${name}" is not a valid name`, 2);
  const isNamespaced = subject === 'pod' || subject === 'service' || subject === 'udn';
  return { kind: subject, name: isNamespaced && !name.includes('/') ? `${namespace}/${name}` : name };
};

const LONG_NAMES: Readonly<Record<string, Question['kind']>> = {
  pods: 'pod',
  svc: 'service',
  services: 'service',
  userdefinednetwork: 'udn',
  userdefinednetworks: 'udn',
  clusteruserdefinednetwork: 'cudn',
  clusteruserdefinednetworks: 'cudn',
};

/** What has no kind is a pod: it is what people ask about. */
const splitKind = (word: string): readonly [string, string] => {
  const [first = '', ...rest] = word.split('/');
  const isKind = rest.length === 2 || ((SUBJECTS as readonly string[]).includes(first) && rest.length === 1);
  return isKind ? [first, rest.join('/')] : ['pod', word];
};

export const askWhy = async (
  client: Pick<KubeClient, 'get' | 'list'>,
  question: Question,
  now: number,
): Promise<WhyOutput> => {
  const [first = '', name] = question.name.split('/');
  // What is in one namespace is understood from there: a tenant may not look further.
  const isIn = name !== undefined && question.kind !== 'network' && question.kind !== 'cudn';
  const snapshot = await readCluster(client, {
    ...(isIn ? { namespace: first } : {}),
    ...(question.kind === 'pod' && name !== undefined ? { eventsOf: { namespace: first, name } } : {}),
    reports: true,
    ...(question.kind === 'service' && { services: true, selectedPods: true }),
    programs: PROGRAMS_NAMESPACE,
    now,
  });
  const result = why(question, sceneOf(snapshot));
  return { data: result, lines: linesOf(result), exitStatus: result.isReady ? 0 : 1 };
};

/** The answer and the next step first, then the whole way. */
const linesOf = ({ summary, next, findings }: Diagnosis): readonly string[] => {
  const width = Math.max(...findings.map(({ what }) => what.length));
  const first = findings.find(({ state }) => state === 'blocked');
  return [
    summary,
    ...(next === undefined || next === '' ? [] : [`→ ${next}`]),
    ...findings.flatMap((finding) => findingLines(finding === first ? withoutNext(finding) : finding, width)),
  ];
};

/** Its next step stands above already. */
const withoutNext = ({ next: _next, ...finding }: Finding): Finding => finding;

const findingLines = ({ what, state, found, next }: Finding, width: number): readonly string[] => [
  `  ${SIGNS[state]}  ${what.padEnd(width)}  ${found}`,
  ...(next === undefined ? [] : [`${' '.repeat(SIGN_WIDTH + width)}→ ${next}`]),
];

const SIGNS = { ok: 'ok     ', warning: 'warning', blocked: 'BLOCKED', unknown: '?      ' } as const;
const SIGN_WIDTH = 13;
