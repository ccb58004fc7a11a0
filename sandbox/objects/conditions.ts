/** What one can wait for. */
import { isRecord } from '../../kube/is-record.ts';
import { SandboxError } from '../errors.ts';

export type Condition =
  | { readonly kind: 'deleted' }
  /** A condition of `status.conditions`; `type` in lower case. */
  | { readonly kind: 'condition'; readonly type: string; readonly status: string };

/** `ready`, `deleted`, `condition=TYPE` or `condition=TYPE=STATUS`. @throws SandboxError ERR_SANDBOX_USAGE */
export const parseCondition = (text: string): Condition => {
  if (text === 'deleted' || text === 'delete') return { kind: 'deleted' };
  if (text === 'ready') return { kind: 'condition', type: 'ready', status: 'true' };
  const [, type, status = 'True'] = /^condition=([^=]+)(?:=([^=]+))?$/.exec(text) ?? [];
  if (type === undefined) {
    throw new SandboxError(
      'ERR_SANDBOX_USAGE',
      `--for must be ready, deleted or condition=TYPE[=STATUS], not "${text}"`,
    );
  }
  return { kind: 'condition', type: type.toLowerCase(), status: status.toLowerCase() };
};

/** @param object undefined when it does not exist */
export const isMet = (condition: Condition, object: unknown): boolean => {
  if (condition.kind === 'deleted') return object === undefined;
  return conditionsOf(object).some(
    ({ type, status }) => type.toLowerCase() === condition.type && status.toLowerCase() === condition.status,
  );
};

/** For people: what the object says of itself. */
export const describeState = (object: unknown): string => {
  if (object === undefined) return 'it does not exist';
  const phase = isRecord(object) && isRecord(object['status']) ? object['status']['phase'] : undefined;
  const conditions = conditionsOf(object).map(
    ({ type, status, reason, message }) =>
      `${type}=${status}${reason === '' ? '' : ` (${reason}${message === '' ? '' : `: ${message}`})`}`,
  );
  return [...(typeof phase === 'string' ? [phase] : []), ...conditions].join(', ') || 'it has no conditions';
};

interface ObjectCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

const conditionsOf = (object: unknown): ObjectCondition[] => {
  const status = isRecord(object) ? object['status'] : undefined;
  const conditions = isRecord(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
  return conditions.filter(isRecord).map((condition) => ({
    type: String(condition['type'] ?? ''),
    status: String(condition['status'] ?? ''),
    reason: String(condition['reason'] ?? ''),
    message: String(condition['message'] ?? ''),
  }));
};
