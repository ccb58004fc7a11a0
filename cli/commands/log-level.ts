/** `udnctl log-level`: the level of a running agent's log, shown or set. */
import { userInfo } from 'node:os';
import type { LogLevelStatus } from '../../api/agent-status.ts';
import { parseTimeout } from '../cluster/request-timeout.ts';
import { CliError } from '../errors.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { TextOutput } from '../output/format.ts';

export interface LogLevelOptions {
  /** A duration. */
  readonly for?: string;
}

type Level = Parameters<AgentClient['setLogLevel']>[0]['level'];

/** @throws CliError, before the agent is asked, for a duration that is none */
export const logLevel = async (
  agent: Pick<AgentClient, 'logLevel' | 'setLogLevel'>,
  level: Level | undefined,
  options: LogLevelOptions,
): Promise<TextOutput> => {
  if (level === undefined && options.for !== undefined) throw new CliError('--for needs a level to set', 2);
  const forSeconds = options.for === undefined ? undefined : secondsOf(options.for);
  const status =
    level === undefined
      ? await agent.logLevel()
      : await agent.setLogLevel({ level, by: whoAsks(), ...(forSeconds !== undefined && { forSeconds }) });
  return { data: status, lines: [lineOf(status)] };
};

const MAX_SECONDS = 86_400;

const secondsOf = (text: string): number => {
  const seconds = (parseTimeout(text) ?? Number.NaN) / 1_000;
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds;
  throw new CliError(`--for is a duration of up to 24h, for example 10m, not "${text}"`, 2);
};

/** All who open the socket are root; sudo knows who that is. */
const whoAsks = (): string => {
  const sudo = process.env['SUDO_USER'];
  const { username } = userInfo();
  return `udnctl, user ${username}${sudo === undefined ? '' : ` (sudo by ${sudo})`}`.slice(0, 200);
};

const lineOf = ({ level, configured, revertsAt }: LogLevelStatus): string => {
  if (level === configured) return `${level}, as configured`;
  const until = revertsAt === undefined ? 'until it is set again or the agent restarts' : `until ${revertsAt}`;
  return `${level} ${until}; configured: ${configured}`;
};
