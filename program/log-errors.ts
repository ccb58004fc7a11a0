import { pino } from 'pino';
import { codeOf } from '../base/error-code.ts';

/**
 * What a log line says of an error. The stack says where it arose, which nobody needs to know of an answer of the API server, or of
 * none: a connection that is lost ends ten watches at once, and their stacks were nine tenths of what was written about it.
 */
export const errorFields = (error: Error): object => {
  const { stack, ...fields } = pino.stdSerializers.err(error) as { stack?: string };
  return OF_A_SERVER.test(codeOf(error) ?? '') ? fields : { ...fields, ...(stack !== undefined && { stack }) };
};

const OF_A_SERVER = /^ERR_KUBE_(STATUS|NETWORK|TIMEOUT)$/;
