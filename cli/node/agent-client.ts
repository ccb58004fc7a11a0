/** Asks the node's agent over its status socket. */
import { request } from 'node:http';
import { z } from 'zod';
import {
  type ComponentStatus,
  componentStatusSchema,
  type DesiredStatus,
  type DifferencesStatus,
  desiredSchema,
  differencesSchema,
  type LogLevelChange,
  type LogLevelStatus,
  logLevelStatusSchema,
  type NetworkStatus,
  type NodeStatus,
  networkStatusSchema,
  nodeStatusSchema,
  type PodStatus,
  type ProblemStatus,
  podStatusSchema,
  problemSchema,
  type ServiceStatus,
  serviceStatusSchema,
} from '../../api/agent-status.ts';
import { parseWith } from '../../api/parse.ts';
import {
  type PoliciesStatus,
  type PolicyEndStatus,
  type PolicyMatrixStatus,
  policiesSchema,
  policyEndSchema,
  policyMatrixSchema,
} from '../../api/policy-status.ts';
import { CliError } from '../errors.ts';

export const DEFAULT_AGENT_SOCKET = '/run/ovn-udn/agent.sock';

export interface AgentClient {
  node(): Promise<NodeStatus>;
  networks(): Promise<NetworkStatus[]>;
  pods(): Promise<PodStatus[]>;
  problems(): Promise<ProblemStatus[]>;
  /** What the node's networks need beside the agent. */
  health(): Promise<ComponentStatus[]>;
  /** Everything that the agent wants to be programmed. */
  desired(): Promise<DesiredStatus[]>;
  /** The agent reads everything again for it. */
  differences(signal?: AbortSignal): Promise<DifferencesStatus>;
  logLevel(): Promise<LogLevelStatus>;
  /** @throws CliError that names the field, for what the agent refuses */
  setLogLevel(change: LogLevelChange): Promise<LogLevelStatus>;
  /** With ClusterIPs. @param asked `namespace/name`, or `address:port` of a Service */
  services(asked: string): Promise<ServiceStatus[]>;
  /** Network policies, as they are on this node; without a question: all, without their rules. */
  policies(about?: PoliciesQuestion): Promise<PoliciesStatus>;
  /** What policies say at one end of a connection. */
  policyEnd(question: PolicyQuestion): Promise<PolicyEndStatus>;
  /** Between the pods of a namespace, on their own network or a secondary one. */
  policyMatrix(namespace: string, network?: string): Promise<PolicyMatrixStatus>;
}

/** A policy or a pod by `namespace/name`, or names of sets that ACLs name, with commas. */
export type PoliciesQuestion = { readonly policy: string } | { readonly pod: string } | { readonly sets: string };

export interface PolicyQuestion extends Pick<PolicyEndStatus, 'pod' | 'direction' | 'peer'> {
  readonly packet?: { readonly protocol: 'tcp' | 'udp' | 'sctp'; readonly port: number } | undefined;
  /** A secondary network. */
  readonly network?: string | undefined;
}

/** An agent that is stopped takes connections, and never answers. */
const ANSWER_MS = 10_000;
/** For what it reads or computes first: half a minute for each daemon that does not answer it. */
const LONG_MS = 120_000;

/** @param answerMs how long an answer may take that is known already */
export const connectAgent = (socketPath: string, answerMs = ANSWER_MS): AgentClient => {
  const ask = async <Answer extends z.ZodType>(
    path: string,
    answer: Answer,
    { signal, limitMs = answerMs }: Pick<Question, 'signal'> & { readonly limitMs?: number } = {},
  ): Promise<z.output<Answer>> =>
    parseWith(answer, JSON.parse(await send(socketPath, { path, signal, limitMs })), `the agent's answer to ${path}`);
  /** Who is told nothing for so long knows at least that the agent runs. */
  const askLong = async <Answer extends z.ZodType>(
    path: string,
    answer: Answer,
    signal?: AbortSignal,
  ): Promise<z.output<Answer>> => {
    await ask('/v1/node', nodeStatusSchema, { signal });
    return await ask(path, answer, { signal, limitMs: LONG_MS });
  };
  return {
    node: () => ask('/v1/node', nodeStatusSchema),
    networks: () => ask('/v1/networks', z.array(networkStatusSchema)),
    pods: () => ask('/v1/pods', z.array(podStatusSchema)),
    problems: () => ask('/v1/problems', z.array(problemSchema)),
    health: () => ask('/v1/health', z.array(componentStatusSchema)),
    desired: () => ask('/v1/wanted', z.array(desiredSchema)),
    differences: (signal) => askLong('/v1/differences', differencesSchema, signal),
    logLevel: () => ask(LOG_LEVEL, logLevelStatusSchema),
    setLogLevel: async (change) =>
      parseWith(
        logLevelStatusSchema,
        JSON.parse(
          await send(socketPath, { path: LOG_LEVEL, method: 'PUT', body: JSON.stringify(change), limitMs: answerMs }),
        ),
        `the agent's answer to ${LOG_LEVEL}`,
      ),
    services: (asked) => ask(`/v1/services/${encodeURIComponent(asked)}`, z.array(serviceStatusSchema)),
    policies: (about) =>
      ask(`/v1/policies${about === undefined ? '' : `?${new URLSearchParams({ ...about })}`}`, policiesSchema),
    policyEnd: ({ packet, network, ...question }) => {
      const words = { ...question, ...(network !== undefined && { network }), ...wordsOf(packet) };
      return ask(`/v1/policy-end?${new URLSearchParams(words)}`, policyEndSchema);
    },
    policyMatrix: (namespace, network) => {
      const query = network === undefined ? '' : `?${new URLSearchParams({ network })}`;
      return askLong(`/v1/policy-matrix/${encodeURIComponent(namespace)}${query}`, policyMatrixSchema);
    },
  };
};

const wordsOf = (packet: PolicyQuestion['packet']): Record<string, string> =>
  packet === undefined ? {} : { protocol: packet.protocol, port: String(packet.port) };

const LOG_LEVEL = '/v1/log-level';

interface Question {
  readonly path: string;
  readonly method?: 'PUT';
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  readonly limitMs: number;
}

const send = (socketPath: string, { path, method, body: sent, signal, limitMs }: Question): Promise<string> =>
  new Promise((resolve, reject) => {
    const limit = AbortSignal.timeout(limitMs);
    const ends = signal ? AbortSignal.any([signal, limit]) : limit;
    const fail = (error: Error): void =>
      reject(
        new CliError(
          limit.aborted
            ? `the agent has not answered at ${socketPath} for ${limitMs / 1000} s: it is stopped or overloaded; what its node reported last: udnctl status --cluster`
            : `the agent cannot be reached at ${socketPath}: ${error.message}; run udnctl as root on a node with a running agent, or select one with --node`,
        ),
      );
    request({ socketPath, path, ...(method && { method }), signal: ends }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', fail);
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve(body);
        else if (response.statusCode === 404) reject(new CliError(OLD_AGENT));
        else if (response.statusCode === 400) reject(new CliError(`the agent refuses it: ${refusalOf(body)}`, 2));
        else fail(new Error(`it answered ${response.statusCode} to ${path}`));
      });
    })
      .on('error', fail)
      .end(sent);
  });

const refusalOf = (body: string): string =>
  parseWith(z.object({ error: z.string() }), JSON.parse(body), "the agent's refusal").error;

const OLD_AGENT = 'the agent does not support this request: it is older than this udnctl';
