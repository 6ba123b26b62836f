/** Why a report is not used. The message has no text from outside. */
export class ReportFault extends Error {
  override readonly name = 'ReportFault';
}
