/** The operations of a transaction as they go over the wire: RFC 7047 §5.2. */
import type { WireRow, WireValue } from '../wire/notation.ts';

export type ConditionFunction = '<' | '<=' | '==' | '!=' | '>=' | '>' | 'includes' | 'excludes';
export type Condition = readonly [column: string, function_: ConditionFunction, value: WireValue];

export type Mutator = '+=' | '-=' | '*=' | '/=' | '%=' | 'insert' | 'delete';
export type Mutation = readonly [column: string, mutator: Mutator, value: WireValue];

export interface InsertOperation {
  readonly op: 'insert';
  readonly table: string;
  readonly row: WireRow;
  readonly 'uuid-name'?: string;
  /** Of the new row, chosen by the client: ovsdb-server(7), section 5.2.1 "Insert", since Open vSwitch 2.13. */
  readonly uuid?: string;
}
export interface SelectOperation {
  readonly op: 'select';
  readonly table: string;
  readonly where: readonly Condition[];
  readonly columns?: readonly string[];
}
export interface UpdateOperation {
  readonly op: 'update';
  readonly table: string;
  readonly where: readonly Condition[];
  readonly row: WireRow;
}
export interface MutateOperation {
  readonly op: 'mutate';
  readonly table: string;
  readonly where: readonly Condition[];
  readonly mutations: readonly Mutation[];
}
export interface DeleteOperation {
  readonly op: 'delete';
  readonly table: string;
  readonly where: readonly Condition[];
}
export interface WaitOperation {
  readonly op: 'wait';
  /** Milliseconds; without it the transaction waits for ever. */
  readonly timeout?: number;
  readonly table: string;
  readonly where: readonly Condition[];
  readonly columns: readonly string[];
  readonly until: '==' | '!=';
  readonly rows: readonly WireRow[];
}
export interface CommitOperation {
  readonly op: 'commit';
  readonly durable: boolean;
}
export interface AbortOperation {
  readonly op: 'abort';
}
export interface CommentOperation {
  readonly op: 'comment';
  readonly comment: string;
}
export interface AssertOperation {
  readonly op: 'assert';
  readonly lock: string;
}

export type Operation =
  | InsertOperation
  | SelectOperation
  | UpdateOperation
  | MutateOperation
  | DeleteOperation
  | WaitOperation
  | CommitOperation
  | AbortOperation
  | CommentOperation
  | AssertOperation;
