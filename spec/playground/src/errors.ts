/** The error of a rule: what was violated, and what there was. */
export class SpecError extends Error {
  constructor(
    /** The id of the rule; empty where something is not done here. */
    readonly rule: string,
    message: string,
    readonly unsupported = false,
    /** For text: where reading stopped. */
    readonly at?: number,
  ) {
    super(rule ? `${message} [${rule}]` : message);
  }
}
