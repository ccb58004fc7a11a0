/** The parameters of writes: CreateOptions, UpdateOptions, PatchOptions, DeleteOptions of meta/v1. */
import { isRecord } from '../../is-record.ts';
import { badRequest, forbiddenField, invalid, required } from '../status-error.ts';
import type { HttpRequest } from './types.ts';

export interface WriteRequest {
  readonly dryRun: boolean;
  /** Who owns what is written. */
  readonly manager: string;
  readonly force: boolean;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
}

/** @throws StatusError */
export const writeRequest = ({ query, headers }: HttpRequest, isApply = false): WriteRequest => {
  const fieldManager = query.get('fieldManager') ?? '';
  const options = { group: 'meta.k8s.io', plural: 'patchoptions', kind: 'PatchOptions' };
  if (isApply && fieldManager === '') {
    throw invalid(options, '', [required('fieldManager', 'is required for apply patch')]);
  }
  if (!isApply && query.has('force')) {
    throw invalid(options, '', [forbiddenField('force', 'may not be specified for non-apply patch')]);
  }
  return {
    dryRun: isDryRun(query.getAll('dryRun')),
    manager: fieldManager || userAgentManager(headers['user-agent'] ?? ''),
    force: query.get('force') === 'true',
    fieldValidation: validationOf(query.get('fieldValidation')),
  };
};

export interface DeleteRequest {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagation: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

/**
 * From the body, or from the query.
 * @throws StatusError
 */
export const deleteRequest = ({ query }: HttpRequest, body: unknown): DeleteRequest => {
  const options = isRecord(body) ? body : {};
  const preconditions = isRecord(options['preconditions']) ? options['preconditions'] : {};
  const grace = options['gracePeriodSeconds'] ?? numberOf(query.get('gracePeriodSeconds'));
  const dryRun = Array.isArray(options['dryRun']) ? options['dryRun'].map(String) : query.getAll('dryRun');
  const orphan = options['orphanDependents'] === true ? 'Orphan' : undefined;
  return {
    dryRun: isDryRun(dryRun),
    gracePeriodSeconds: typeof grace === 'number' && grace >= 0 ? grace : undefined,
    propagation: propagationOf(options['propagationPolicy'] ?? query.get('propagationPolicy') ?? orphan),
    uid: typeof preconditions['uid'] === 'string' ? preconditions['uid'] : undefined,
    resourceVersion:
      typeof preconditions['resourceVersion'] === 'string' ? preconditions['resourceVersion'] : undefined,
  };
};

const isDryRun = (values: readonly string[]): boolean => {
  const given = values.filter((value) => value !== '');
  if (given.some((value) => value !== 'All')) throw badRequest(`Invalid value: ${JSON.stringify(given)}: dryRun: All`);
  return given.length > 0;
};

/** The program's name, as a real server takes it. */
const userAgentManager = (userAgent: string): string => userAgent.split('/')[0]?.slice(0, 128) || 'unknown';

const validationOf = (value: string | null): WriteRequest['fieldValidation'] => {
  if (value === 'Strict' || value === 'Ignore') return value;
  if (value === null || value === '' || value === 'Warn') return 'Warn';
  throw badRequest(`fieldValidation: Unsupported value: "${value}": supported values: "Ignore", "Warn", "Strict"`);
};

const propagationOf = (value: unknown): DeleteRequest['propagation'] => {
  if (value === undefined || value === null || value === '') return undefined;
  if (value === 'Background' || value === 'Foreground' || value === 'Orphan') return value;
  throw badRequest(`propagationPolicy: Unsupported value: ${JSON.stringify(value)}`);
};

const numberOf = (text: string | null): number | undefined =>
  text === null || !/^\d+$/.test(text) ? undefined : Number(text);
