"""How panels look: system fonts, no outside files."""

from __future__ import annotations

STYLE = """<style>
.course-panel, .course-static, .course-view
  {font-family: system-ui, -apple-system, "Segoe UI", sans-serif; font-size: 15px;
  line-height: 1.5; max-width: 860px; overflow: visible; color: var(--jp-content-font-color1, inherit);
  --course-line: var(--jp-border-color1, rgba(128,128,128,.45)); --course-edge: #808080;
  --course-blue: #0072B2; --course-red: #D55E00; --course-green: #009E73;}
[data-jp-theme-light="false"] :is(.course-panel, .course-static, .course-view)
  {--course-blue: #56B4E9; --course-red: #F08A3C; --course-green: #2FC79A;}
.course-panel, .course-static
  {padding: 16px 20px; margin: 8px 0; border: 1px solid var(--course-line); border-radius: 8px;
  box-sizing: border-box; width: 100%;}
.course-panel .widget-html-content, .course-panel .widget-html
  {font-size: 15px; line-height: 1.5; height: auto; color: inherit;}
.course-heading {font-size: 17px; font-weight: 600; line-height: 1.35; margin: 0 0 8px;}
.course-view figure {margin: 0;}
.course-view svg {display: block; width: 100%; max-width: 720px; height: auto;}
.course-finding {font-size: 16px; font-weight: 600; margin: 10px 0 6px;}
.course-summary {margin: 8px 0;}
.course-view table, .jp-RenderedHTMLCommon .course-view table {border-collapse: collapse; margin: 10px 0;
  font-size: 14px; table-layout: auto; min-width: min(100%, 520px); color: inherit;}
.course-view caption {text-align: left; font-size: 13px; padding: 4px 0; caption-side: top; color: inherit;
  opacity: .85;}
.course-view th, .course-view td,
  .jp-RenderedHTMLCommon .course-view th, .jp-RenderedHTMLCommon .course-view td
  {padding: 5px 16px 5px 0; text-align: left; border: 0; border-bottom: 1px solid var(--course-line);
  font-weight: normal; vertical-align: top; white-space: normal; max-width: none;}
.course-view tbody tr, .jp-RenderedHTMLCommon .course-view tbody tr {background: none;}
.course-view tbody tr:hover, .jp-RenderedHTMLCommon .course-view tbody tr:hover
  {background: rgba(128,128,128,.12);}
.course-view thead th, .jp-RenderedHTMLCommon .course-view thead th {font-weight: 600;}
.course-view thead th:nth-child(3):last-child,
  .jp-RenderedHTMLCommon .course-view thead th:nth-child(3):last-child
  {white-space: nowrap;}
.course-view tbody th:first-child:nth-last-child(3) {min-width: 10.5em;}
.course-view td.course-figure, .course-view th.course-figure {text-align: right;
  font-variant-numeric: tabular-nums;}
.course-view td.course-figure {white-space: nowrap;}
.course-origin {font-size: 13px; margin: 6px 0 0;}
.course-badge {display: inline-block; border: 1.5px solid currentColor; border-radius: 4px; padding: 0 7px;
  margin-right: 8px; font-weight: 600;}
.course-badge-generated {border-style: dashed;}
.course-badge-mirror {border-style: double; border-width: 3px;}
.course-note, .course-problem, .course-right {font-size: 15px; margin: 6px 0; padding: 8px 12px;
  overflow-wrap: anywhere;}
.course-note {border-left: 4px solid var(--course-blue); background: rgba(0,114,178,.10);}
.course-problem {border-left: 4px solid var(--course-red); background: rgba(213,94,0,.12);}
.course-right {border-left: 4px solid var(--course-green); background: rgba(0,158,115,.12);}
.course-panel .course-control {align-items: center; flex-flow: row wrap; overflow: visible;}
.course-panel .widget-label, .course-panel label {font-size: 15px; color: inherit;}
.course-panel .course-typed > .widget-label, .course-panel .course-options > .widget-label
  {position: absolute; width: 1px; height: 1px; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap;}
.course-panel .course-choice > .widget-label {white-space: normal; height: auto; line-height: 1.4;}
.course-panel .course-choice.widget-radio {flex-flow: row wrap; align-items: center; gap: 0 16px;}
.course-panel .course-choice .widget-radio-box {flex-flow: row wrap; gap: 2px 20px; padding: 0; height: auto;}
.course-panel .course-slider .noUi-handle
  {background: var(--course-blue); border-color: var(--course-blue);}
.course-panel .course-slider .noUi-connects {background: var(--course-edge);}
.course-panel .course-options, .course-panel .course-options .widget-radio-box {height: auto; width: 100%;
  max-width: none; overflow: visible;}
.course-panel .course-options .widget-radio-box label, .course-panel .course-tick label
  {white-space: normal; height: auto; width: auto; max-width: 100%; line-height: 1.45; padding: 3px 0;
  margin-bottom: 0; overflow: visible; display: flex; align-items: flex-start; text-align: left;}
.course-panel .course-options .widget-radio-box label
  {flex-direction: row-reverse; justify-content: flex-end;}
.course-panel .course-options .widget-radio-box input {margin: 2px 10px 0 0; flex: none;}
.course-panel .course-match {height: auto; align-items: center;}
.course-panel select, .course-panel input[type=text], .course-panel textarea
  {font-family: inherit; font-size: 15px; color: var(--jp-ui-font-color1, #1c1c1c);
  border: 1px solid var(--course-edge); background-color: var(--jp-layout-color1, #fff);}
.course-panel select, .course-panel input[type=text] {height: 32px;}
.course-panel ::placeholder {color: inherit; opacity: .75;}
.course-panel select option {color: var(--jp-ui-font-color1, #1c1c1c);
  background-color: var(--jp-layout-color1, #fff);}
.course-panel .course-buttons {margin-top: 6px; flex-flow: row wrap; align-items: center; gap: 4px 6px;
  overflow: visible;}
.course-panel .course-place {margin-left: 12px;}
.course-panel .course-match > .widget-label
  {white-space: normal; height: auto; line-height: 1.4; text-align: left;}
.course-panel pre, .course-static pre
  {padding: 8px 12px; border: 1px solid var(--course-line); border-radius: 4px;
  overflow-x: auto; font-size: 14px; line-height: 1.45;}
.course-panel p, .course-static p {margin: 6px 0;}
.course-panel ol {margin: 4px 0; padding-left: 24px;}
.course-panel .course-tick, .course-panel .course-tick label {height: auto; width: 100%;}
.course-panel .course-tick input {margin: 2px 10px 0 0; flex: none;}
.course-panel .jupyter-button {font-family: inherit; font-size: 15px; height: auto; min-height: 34px;
  line-height: 1.3; padding: 5px 16px; border-radius: 5px; overflow: visible; white-space: normal;}
.course-panel .jupyter-button:not(.mod-primary)
  {color: var(--jp-ui-font-color1, #1c1c1c); background-color: var(--jp-layout-color2, #eee);
  border: 1px solid var(--course-edge);}
.course-panel .jupyter-button:not(.mod-primary):hover:enabled
  {background-color: var(--jp-layout-color3, #ddd);}
.course-panel .course-buttons:has(.course-before) {margin: 0 0 8px;}
.course-panel .course-buttons:has(.course-before) .jupyter-button
  {background-color: transparent; border-radius: 17px; min-height: 30px; padding: 3px 14px;}
.course-panel .course-buttons:has(.course-before) .jupyter-button:hover:enabled
  {background-color: var(--jp-layout-color2, #eee);}
.course-panel .jupyter-button.course-pressed, .course-panel .course-buttons .jupyter-button.course-pressed
  {border: 2px solid var(--course-blue); font-weight: 600;}
.course-panel:not(.course-large) .course-control .course-slider > .widget-label
  {min-width: 13.5em; text-align: left;}
.course-panel:not(.course-large) .course-control > .widget-html {min-width: 7em;}
.course-panel .course-assumed {flex-flow: row wrap; overflow: visible; margin: 4px 0;}
.course-panel .course-assumed input[type=text] {width: 110px; flex: none;}
.course-before {opacity: .85; margin-right: 4px;}
.course-panel .course-pinned {border-left: 4px solid var(--course-blue); padding-left: 14px; margin: 12px 0;}
.course-panel .course-pinned caption {font-weight: 600; font-size: 14px; opacity: 1;}
.course-panel .course-shown > .widget-vbox
  {margin-top: 12px; padding-top: 8px; border-top: 1px solid var(--course-line); overflow: visible;}
.course-panel .course-shown > .widget-vbox .course-finding {margin-top: 14px;}
.course-panel .course-asked, .course-panel .course-shown {overflow: visible;}
.course-panel :focus-visible, .course-panel .jupyter-widgets :focus-visible
  {outline: 3px solid var(--course-blue) !important; outline-offset: 2px;}
.course-hidden {position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);}
.course-bar {display: inline-block; width: 120px; height: 10px; border: 1px solid currentColor;
  border-radius: 5px; overflow: hidden; vertical-align: middle; margin-right: 8px;}
.course-missing {opacity: .75;}
.course-view td.course-progress {white-space: nowrap;}
.course-bar > span {display: block; height: 100%; background: var(--course-green);}
.course-live-state {min-height: 1.5em;}
.course-live .widget-dropdown {height: auto;}
.course-live-charts {display: grid; gap: 4px;}
.course-live .course-live-table .course-view table {min-width: min(100%, 640px);}
.course-panel.course-large, .course-large .course-view {max-width: none;}
.course-panel.course-large {border: 0; margin: 0; padding: 1vw 2vw; display: grid; overflow: visible;
  align-items: start; align-content: start;
  grid-template-columns: minmax(380px, 1fr) minmax(0, 2fr); column-gap: 3vw; row-gap: 0;
  grid-template-rows: auto 1fr; --course-large-size: clamp(18px, 1.45vw, 44px);}
.course-panel.course-large.course-live {grid-template-rows: none;
  grid-template-columns: minmax(400px, 9fr) 11fr; --course-large-size: clamp(15px, 1.1vw, 30px);}
.course-large.course-live > :first-child {grid-column: 1 / -1;}
.course-large > .course-live-chart {grid-column: 2; grid-row: 2 / span 2;}
.course-large > .course-live-controls, .course-large > .course-live-table {grid-column: 1; width: auto;}
.course-large .course-view svg {max-width: none !important; width: 100%;}
.course-large p, .course-large .widget-html-content, .course-large .widget-label, .course-large label,
  .course-large select, .course-large input[type=text], .course-large .jupyter-button,
  .course-large .course-view table {font-size: var(--course-large-size) !important;}
.course-large .course-view caption, .course-large .course-origin, .course-large .course-plan-files p
  {font-size: calc(.82 * var(--course-large-size)) !important;}
.course-large .course-heading {font-size: calc(1.6 * var(--course-large-size)) !important;}
.course-large .course-finding {font-size: calc(1.2 * var(--course-large-size)) !important; line-height: 1.3;}
.course-large .widget-dropdown, .course-large .course-control > * {height: auto;}
.course-large .course-view th, .course-large .course-view td {padding-top: 1px; padding-bottom: 1px;}
.course-large select, .course-large input[type=text] {height: 2em;}
.course-large .jupyter-button {min-height: 2.4em; padding: .4em 1.4em;}
.course-large > .course-asked {grid-area: 2 / 1; width: auto; position: sticky; top: 1vw;}
.course-large > .course-shown {grid-area: 1 / 2 / span 2; width: auto; min-width: 0;}
.course-large:not(.course-live) > :first-child {grid-area: 1 / 1; width: auto;}
.course-large:not(.course-live) .course-view svg {max-height: 74vh;}
.course-large .course-shown .course-finding {margin-top: 0;}
.course-large .course-shown table {min-width: 0 !important; width: 100%;}
.course-large .course-shown table:not(:has(th:nth-child(4))) tbody th {min-width: 11em;}
.course-large .course-control {align-items: flex-end; margin-bottom: .5em;}
.course-large:has(.course-pinned) .course-view svg {max-height: 42vh;}
.course-large .course-control > .widget-html {min-width: calc(1.9 * var(--course-large-size)) !important;}
.course-large .course-slider {flex: 1 1 0 !important; flex-wrap: wrap;
  min-width: calc(8 * var(--course-large-size)) !important;}
.course-large .course-slider > .widget-label {flex: 1 0 100%; white-space: normal; height: auto;
  text-align: left; line-height: 1.3; padding-bottom: .5em;}
.course-large .course-typed {width: calc(6.6 * var(--course-large-size)) !important;}
.course-large .course-plan-files .widget-text {max-width: 100% !important; flex-basis: 100% !important;}
.course-large .course-plan-files .widget-text > .widget-label {flex: none;}
.course-large .course-plan-files .widget-text > input[type=text] {min-width: 0; width: 0; flex: 1 1 0;}
.course-large .course-asked .jupyter-button {padding: .3em .9em; min-height: 2em;}
</style>"""
