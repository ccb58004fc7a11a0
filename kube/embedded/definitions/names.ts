/** Rules for names (k8s.io/apimachinery util/validation). */
import { type FieldError, invalidValue } from '../status-error.ts';

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const LABEL_PATTERN = new RegExp(`^${LABEL}$`);
const SUBDOMAIN_PATTERN = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

export const LABEL_MESSAGE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

export const isDnsLabel = (text: string): boolean => text.length <= 63 && LABEL_PATTERN.test(text);

export const isDnsSubdomain = (text: string): boolean => text.length <= 253 && SUBDOMAIN_PATTERN.test(text);

export const validateName = (name: string, rule: 'subdomain' | 'label' | 'path'): FieldError[] => {
  if (rule === 'path') {
    return name === '.' || name === '..' || /[/%]/.test(name)
      ? [invalidValue('metadata.name', name, "may not contain '/' or '%' and may not be '.' or '..'")]
      : [];
  }
  const max = rule === 'label' ? 63 : 253;
  if (name.length > max) return [invalidValue('metadata.name', name, `must be no more than ${max} characters`)];
  if (rule === 'label') return isDnsLabel(name) ? [] : [invalidValue('metadata.name', name, LABEL_MESSAGE)];
  return isDnsSubdomain(name) ? [] : [invalidValue('metadata.name', name, SUBDOMAIN_MESSAGE)];
};

/** `name` or `prefix/name`: keys of labels and annotations. */
export const isQualifiedName = (text: string): boolean => {
  const [first = '', second, ...more] = text.split('/');
  const name = second ?? first;
  return (
    more.length === 0 &&
    name.length <= 63 &&
    QUALIFIED_NAME.test(name) &&
    (second === undefined || isDnsSubdomain(first))
  );
};

export const isLabelValue = (text: string): boolean => text.length <= 63 && LABEL_VALUE.test(text);
