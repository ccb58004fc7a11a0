/** The level of the agent's log, read and set over the status socket. */
import type { Logger } from 'pino';
import { type LogLevelStatus, logLevelChangeSchema } from '../../api/agent-status.ts';
import { parseWith } from '../../api/parse.ts';
import type { LogLevelControl } from '../../program/log-level.ts';
import type { StatusSetting } from './server.ts';

export const logLevelResource = (control: LogLevelControl, log: Logger): StatusSetting => {
  const child = log.child({ module: 'log' });
  const read = (): LogLevelStatus => {
    const { revertsAt, ...state } = control.state();
    return { ...state, ...(revertsAt !== undefined && { revertsAt: new Date(revertsAt).toISOString() }) };
  };
  return {
    read,
    change: (body) => {
      const { level, forSeconds, by } = parseWith(logLevelChangeSchema, body, 'log level');
      control.set(
        { level, ...(forSeconds !== undefined && { forMs: forSeconds * 1_000 }) },
        ({ from, to, isReverted }) => {
          if (isReverted) child.info({ from, to }, 'log level reverted');
          else child.info({ from, to, by, forSeconds }, 'log level changed');
        },
      );
      return read();
    },
  };
};
