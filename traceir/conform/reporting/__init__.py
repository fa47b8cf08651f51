"""Reports of runs: text, HTML, JSON and the status page.

Takes verdicts of cases (`ConformanceRun`), gives text. Start reading at
`report.to_text`.

- `machine`: reports for machines: JUnit's XML, and a badge
- `page`: the report as one HTML file without other files
- `progress`: a progress bar of one line, on a terminal only
- `report`: the data of a report, and the report as plain text
- `status`: the matrix of rules by implementations, and its page
"""
